#!/usr/bin/python
"""What could be better on a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: raidtui_advice
short_description: Say what could be better on a host
version_added: "0.1.0"
author: The raidtui maintainers (!UNKNOWN)
description: What C(raidtui advice --json) prints (docs/advice.md), and a failure where a piece is severe. Nothing is changed.
options:
  fail_on:
    description: The severity from which on the task fails.
    type: str
    choices: [never, attention, degraded, failed]
    default: never
  executable:
    description: Where raidtui is.
    type: path
    default: raidtui
"""

EXAMPLES = r"""
- name: Nothing severe may be known
  raidtui.raidtui.raidtui_advice: {fail_on: degraded}
"""

RETURN = r"""
advice:
  description: The pieces of advice, the worst first.
  type: list
  elements: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.raidtui.raidtui.plugins.module_utils.raidtui import EXECUTABLE, call, fail

SEVERITIES = ("attention", "degraded", "failed")


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "fail_on": {"type": "str", "choices": ["never", *SEVERITIES], "default": "never"},
            "executable": EXECUTABLE,
        },
        supports_check_mode=True,
    )
    status, found, said = call(module, ["advice", "--json"])
    if not isinstance(found, dict) or "advice" not in found:
        fail(module, status, found, said)
    limit = module.params["fail_on"]
    severe = SEVERITIES[SEVERITIES.index(limit) :] if limit != "never" else ()
    bad = [each for each in found["advice"] if each["severity"] in severe]
    if bad:
        module.fail_json(msg=bad[0]["text"], advice=found["advice"])
    module.exit_json(changed=False, advice=found["advice"])


if __name__ == "__main__":
    main()
