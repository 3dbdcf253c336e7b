"""The stateful tool of the tests, on the SDK for Python."""

import time

from jig_tool import vfs


@vfs.tool
def stage(host: vfs.Host, talk: str = "") -> str:
    return talk_with(host, talk) if talk else stage_hunks(host)


def stage_hunks(host: vfs.Host) -> str:
    if not host.is_stateful:
        return "Nothing is staged without being told."
    staged = 0
    for hunk in host.read("hunks.txt").splitlines():
        host.state("running", f"Stage this hunk? {hunk}")
        if is_wanted(host, hunk):
            staged += 1
    result = f"Staged {staged} hunks."
    host.state("stopped", result=result)
    return result


def is_wanted(host: vfs.Host, hunk: str) -> bool:
    told = host.receive()
    if told == "many":
        for number in range(5):
            host.write(f"{hunk}.{number}", "x")
            host.exists("hunks.txt")
        return True
    if told == "ask":
        host.state("waiting", f"About {hunk}.", question=vfs.Question.yes_no("sure", "Confirm?"))
        return host.receive() is True
    if isinstance(told, str) and told.startswith("late "):
        while not host.exists(f"{hunk}.go"):
            time.sleep(0.01)
        question = vfs.Question.yes_no(hunk, "Really?")
        if told == "late ask":
            answer = host.ask(question)
        else:
            host.state("waiting", question=question)
            answer = host.wait_answer(hunk) if told == "late answer" else host.receive()
        # What was said before is still there.
        return answer is True and host.receive() is False
    if told == "sulk":
        time.sleep(600)
    return told == "y"


def talk_with(host: vfs.Host, program: str) -> str:
    with host.start_process(program) as process:
        host.state("running", "talk")
        while True:
            output = process.read(wait=600)
            if output.content:
                host.state("running", output.content)
            if not output.running:
                return "It has ended."
            while (told := host.try_apply()) is not None:
                process.write(told)


stage.main()
