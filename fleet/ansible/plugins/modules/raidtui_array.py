#!/usr/bin/python
"""One change to an md array, by a plan of raidtui."""

from __future__ import annotations

DOCUMENTATION = r"""
module: raidtui_array
short_description: Change an md array by a plan of raidtui
version_added: "0.1.0"
author: The raidtui maintainers (!UNKNOWN)
description:
  - Makes a plan (C(raidtui plan --json)), shows it as diff in check mode, applies it (C(raidtui apply)).
  - What is already done is not changed. What raidtui refuses fails the task with RV(code) and the sentence.
options:
  verb:
    description: The verb of C(raidtui plan).
    type: str
    required: true
    choices: [create, rename, add, fail, remove, replace, re-add, stop, assemble, zero-superblock, read-only,
      read-write, bitmap, grow, convert, shrink, journal, check, repair]
  array:
    description: The array, by name, path or UUID. For V(create) the new one's name.
    type: str
  devices:
    description: The devices that the verb takes, in its order; for V(replace) the old one and the new one.
    type: list
    elements: str
    default: []
  to:
    description: The new name (V(rename)), or V(none) or V(internal) (V(bitmap)).
    type: str
  level:
    description: The level of a new array, or the one that it is converted to.
    type: str
  options:
    description: Further options of the verb, such as C(chunk) with its value; V(true) for those without.
    type: dict
    default: {}
  confirm:
    description: The name that a plan which destroys data asks for.
    type: str
  executable:
    description: Where raidtui is.
    type: path
    default: raidtui
"""

EXAMPLES = r"""
- name: Create a mirror
  raidtui.raidtui.raidtui_array:
    verb: create
    array: data
    level: raid1
    devices: [/dev/sdb, /dev/sdc]
    options: {bitmap: internal}
    confirm: data

- name: Rename it
  raidtui.raidtui.raidtui_array: {verb: rename, array: data, to: pgdata}
"""

RETURN = r"""
plan:
  description: The plan, as docs/plans.md has it.
  type: dict
  returned: success
job:
  description: The job that carried it out.
  type: str
  returned: changed
code:
  description: Why it is refused; the codes of docs/plans.md.
  type: str
  returned: failure
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.raidtui.raidtui.plugins.module_utils.raidtui import EXECUTABLE, carry_out

OF_ARRAY = ("stop", "read-only", "read-write", "check", "repair")
OF_MEMBERS = ("add", "fail", "remove", "re-add")
ADDING = ("grow", "convert", "journal")
VERBS = (
    *OF_ARRAY,
    *OF_MEMBERS,
    *ADDING,
    "create",
    "rename",
    "replace",
    "assemble",
    "zero-superblock",
    "bitmap",
    "shrink",
)


def words_of(params: dict) -> list[str]:
    """Return the words of ``raidtui plan`` that these parameters mean. No word can be taken for an option."""
    verb, array, devices = params["verb"], params["array"], params["devices"]
    words = []
    for key, value in sorted(params["options"].items()):
        option = "--" + key.replace("_", "-")
        values = value if isinstance(value, list) else [value]
        words += [
            option if each is True else "%s=%s" % (option, each) for each in values if each is not False
        ]
    if params["level"]:
        words.append("--level=" + params["level"])
    if verb == "create":
        return [verb, *words, "--name=" + array, "--", *devices]
    if verb == "rename":
        return [verb, *words, "--to=" + params["to"], "--", array]
    if verb == "bitmap":
        return [verb, *words, "--", array, params["to"]]
    if verb == "replace":
        return [verb, *words, "--with=" + devices[1], "--", array, devices[0]]
    if verb in ("assemble", "zero-superblock"):
        return [verb, *words, "--", *devices]
    if verb in ADDING and devices:
        return [verb, array, *words, "--add", *devices]
    return [verb, *words, "--", array, *devices]


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "verb": {"type": "str", "required": True, "choices": list(VERBS)},
            "array": {"type": "str"},
            "devices": {"type": "list", "elements": "str", "default": []},
            "to": {"type": "str"},
            "level": {"type": "str"},
            "options": {"type": "dict", "default": {}},
            "confirm": {"type": "str"},
            "executable": EXECUTABLE,
        },
        required_if=[
            ("verb", "create", ("array", "level", "devices")),
            ("verb", "rename", ("array", "to")),
            ("verb", "bitmap", ("array", "to")),
        ],
        supports_check_mode=True,
    )
    params = module.params
    without = ("assemble", "zero-superblock")
    if params["verb"] not in without and not params["array"]:
        module.fail_json(msg="%s needs array" % params["verb"])
    least = {"replace": 2, "assemble": 1, "zero-superblock": 1, **dict.fromkeys(OF_MEMBERS, 1)}
    if len(params["devices"]) < least.get(params["verb"], 0):
        module.fail_json(msg="%s needs %d devices" % (params["verb"], least[params["verb"]]))
    if any(word.startswith("-") for word in (params["array"] or "", *params["devices"])):
        module.fail_json(msg="names of arrays and devices do not begin with -")
    words = words_of(params)
    carry_out(module, ["plan", words[0], "--json", *words[1:]], "raidtui plan " + " ".join(words))


if __name__ == "__main__":
    main()
