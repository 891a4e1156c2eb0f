#!/usr/bin/python
"""Knobs of disks, arrays and processors, by raidtui tune."""

from __future__ import annotations

DOCUMENTATION = r"""
module: raidtui_tune
short_description: Set knobs of disks, arrays and processors by raidtui tune
version_added: "0.1.0"
author: The raidtui maintainers (!UNKNOWN)
description:
  - Sets values for now, or with O(keep) over reboots. What has its value already is not changed.
options:
  targets:
    description: Disks, C(@ARRAY) for all of its members, an array, a cache, C(cpu), C(system).
    type: list
    elements: str
    required: true
  values:
    description: The knobs (docs/tune.md) and their values.
    type: dict
    required: true
  keep:
    description: Whether they are kept over reboots; else they are set for now.
    type: bool
    default: false
  executable:
    description: Where raidtui is.
    type: path
    default: raidtui
"""

EXAMPLES = r"""
- name: Let syncs be slower
  raidtui.raidtui.raidtui_tune: {targets: [system], values: {speed_limit_max: 50000}}
"""

RETURN = r"""
plan:
  description: The plan, as docs/plans.md has it.
  type: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.raidtui.raidtui.plugins.module_utils.raidtui import EXECUTABLE, carry_out


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "targets": {"type": "list", "elements": "str", "required": True},
            "values": {"type": "dict", "required": True},
            "keep": {"type": "bool", "default": False},
            "executable": EXECUTABLE,
        },
        supports_check_mode=True,
    )
    params = module.params
    values = ["%s=%s" % pair for pair in sorted(params["values"].items())]
    words = [
        "tune",
        "keep" if params["keep"] else "set",
        "--dry-run",
        "--json",
        "--",
        *params["targets"],
        *values,
    ]
    carry_out(module, words, "raidtui " + " ".join(words))


if __name__ == "__main__":
    main()
