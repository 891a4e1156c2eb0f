"""Prints all that the diagnosis reads in the guest, files and outputs of tools by path, as JSON."""

import json
import sys

from raidtui.host.roots.noting_root import NotingRoot
from raidtui.host.roots.opening import open_root
from raidtui.host.tools import ToolOutput, output_path
from raidtui.session.rescue import read_rescue


class _NotingAll(NotingRoot):
    def __init__(self) -> None:
        super().__init__(open_root("/"))
        self.outputs: dict[str, str] = {}

    def run(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        output = super().run(*argv, timeout_s=timeout_s, stdin=stdin)
        if output.status is not None:
            self.outputs[output_path(argv)] = f"exit {output.status}\n{output.stdout}{output.stderr}"
        return output


if __name__ == "__main__":
    root = _NotingAll()
    read_rescue(root)
    texts = {path: data.decode() for path, data in root.files.items()}
    sys.stdout.write(json.dumps(texts | root.outputs))
