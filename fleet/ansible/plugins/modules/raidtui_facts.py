#!/usr/bin/python
"""The arrays of a host as facts."""

from __future__ import annotations

DOCUMENTATION = r"""
module: raidtui_facts
short_description: Gather the arrays of a host as facts
version_added: "0.1.0"
author: The raidtui maintainers (!UNKNOWN)
description: What C(raidtui status --json --wear) prints (docs/status-json.md) as the fact C(raidtui). Nothing is changed.
options:
  executable:
    description: Where raidtui is.
    type: path
    default: raidtui
"""

EXAMPLES = r"""
- name: Look at the arrays
  raidtui.raidtui.raidtui_facts:

- name: Stop where one has failed
  ansible.builtin.assert:
    that: ansible_facts.raidtui.exit_status != 2
"""

RETURN = r"""
ansible_facts:
  description: C(raidtui), as docs/status-json.md has it.
  type: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.raidtui.raidtui.plugins.module_utils.raidtui import EXECUTABLE, call, fail


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec={"executable": EXECUTABLE}, supports_check_mode=True)
    status, found, said = call(module, ["status", "--json", "--wear"])
    if not isinstance(found, dict) or "arrays" not in found:
        fail(module, status, found, said)
    module.exit_json(changed=False, ansible_facts={"raidtui": found})


if __name__ == "__main__":
    main()
