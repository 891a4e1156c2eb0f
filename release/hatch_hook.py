"""Man pages and completions into wheel and sdist: hatchling calls it, since pyproject.toml names it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Generated(BuildHookInterface[Any]):
    """Writes what is made from the command line, and has it packed."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files, but not for an editable installation: there the checkout is what is run.

        Args:
            version: "standard" or "editable".
            build_data: what is packed; "shared_data" and "force_include" are added to.
        """
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from release.generated import write_generated  # noqa: PLC0415  (its requirements are those of the build)

        folder = Path(self.root) / "build" / "generated"
        made = write_generated(folder)
        if self.target_name == "wheel":
            build_data["shared_data"] |= {str(folder / name): place for name, place in made.items()}
        else:
            build_data["force_include"] |= {str(folder / name): f"generated/{name}" for name in made}
