"""What the modules share: raidtui is called by words, plans and applies, and what it refuses fails the task.

Runs on the managed host, with the Python that Ansible finds there: 3.8 and later.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REFUSED, BUSY = 2, 75
EXECUTABLE = {"type": "path", "default": "raidtui"}


def call(module: Any, words: list[str], data: str | None = None) -> tuple[int, Any, str]:
    """Run raidtui; return its exit status, the JSON on its standard output (None without any), and its words."""
    argv = [module.params["executable"], *words]
    environment = {"LC_ALL": "C.UTF-8"}
    status, out, err = module.run_command(argv, data=data, environ_update=environment)
    try:
        found = json.loads(out) if out.strip() else None
    except ValueError:
        found = None
    return status, found, (err or out).strip()


def fail(module: Any, status: int, found: Any, said: str) -> None:
    """Fail the task as raidtui refuses: with the code, which does not change, and the sentence."""
    more = {}
    if isinstance(found, dict) and "raidtui_refusal" in found:
        more = {"code": found["code"], "remedy": found["remedy"]}
        said = found["why"] + ("; " + found["remedy"] if found["remedy"] else "")
    elif status == BUSY:
        more = {"code": "busy"}
    module.fail_json(msg=said or "raidtui ended with %d" % status, rc=status, **more)


def carry_out(module: Any, words: list[str], title: str) -> None:
    """Make a plan and apply it; in check mode only show it. Ends the task.

    Args:
        module: the module, with ``executable`` and ``confirm``.
        words: the command that prints the plan as JSON.
        title: what is asked for, for the diff.
    """
    status, found, said = call(module, words)
    if status or not isinstance(found, dict) or "plan" not in found:
        fail(module, status, found, said)
    plan = found["plan"]
    notes = list(plan.get("notes", ()))
    if plan.get("already") or not plan["steps"]:
        module.exit_json(changed=False, msg=notes[0] if notes else plan["title"], plan=plan)
    lines = [_command(step) for step in plan["steps"]]
    diff = {
        "before": "",
        "after": "\n".join(lines) + "\n",
        "before_header": title,
        "after_header": plan["title"],
    }
    wanted = plan.get("confirm") or plan["subject"]
    if plan.get("harm", 0) >= 2 and module.params.get("confirm") != wanted:
        loses = list(plan.get("loss_sentences", ()))
        module.fail_json(
            msg="it destroys data: confirm must be %r" % wanted, code="needs-confirmation", loses=loses
        )
    if module.check_mode:
        module.exit_json(changed=True, diff=diff, plan=plan, msg=plan["title"])
    confirm = ["--confirm=" + wanted] if plan.get("harm", 0) >= 2 else []
    status, result, said = call(module, ["apply", "--json", *confirm, "-"], json.dumps(found))
    if status or not isinstance(result, dict):
        fail(module, status, result, said)
    module.exit_json(changed=result["changed"], diff=diff, plan=plan, job=result["job"], msg=plan["title"])


def _command(step: Any) -> str:
    """Return a step of a plan in one line."""
    if step.get("argv"):
        return " ".join(step["argv"])
    if step.get("content") is not None:
        return "write " + step["path"]
    if step.get("path"):
        return "echo %s > %s" % (step.get("text", ""), step["path"])
    return "wait: " + step["why"]
