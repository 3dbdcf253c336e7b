"""Programs that stay, and input for the tool while it waits for them."""

from __future__ import annotations

import json
import re
import textwrap
import threading
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from fake_host import Host, JsonObject, Refusal

DOCS = Path(__file__).resolve().parents[3] / "docs/writing-tools.md"


def tool(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"from jig_tool import vfs\n\n@vfs.tool\ndef test(host):\n{lines}\n\ntest.main()\n"


class Echo:
    """Serves one program that repeats what it is sent, until it is sent `exit`."""

    def __init__(self, before_read: Optional[Callable[[Host], None]] = None) -> None:
        self.before_read = before_read
        self.printed = ">>> "
        self.told = 0
        self.running = True
        self.is_known = False

    def __call__(self, host: Host, request: JsonObject) -> bool:
        method, params = request["method"], request["params"]
        if not method.startswith("process."):
            return False
        try:
            result = self.serve(host, method, params)
            host.send({"id": request["id"], "result": result})
        except Refusal as refusal:
            host.send({"id": request["id"], "error": refusal.error})
        return True

    def serve(self, host: Host, method: str, params: JsonObject) -> JsonObject:
        if method == "process.start":
            if params["program"] == "rm":
                raise Refusal(-32001, "denied_by_rule", "access denied: run `rm`")
            self.is_known = True
            return {"process": 7}
        if params["process"] != 7 or not self.is_known:
            raise Refusal(-32602, "unknown_process")
        if method == "process.write":
            if not self.running:
                raise Refusal(-32602, "process_ended")
            self.printed += json.dumps(params["input"]) + "\n"
            self.running = params["input"] != {"line": "exit"}
            return {}
        if method == "process.stop":
            self.is_known = False
            self.running = False
            return {**self.output(), "signal": 15}
        if self.before_read is not None:
            self.before_read(host)
        output = self.output()
        if not self.running:
            return {**output, "exit_code": 0}
        return output

    def output(self) -> JsonObject:
        content, self.told = self.printed[self.told :], len(self.printed)
        return {"running": self.running, "content": content, "seq": self.told, "later": []}


class Processes(unittest.TestCase):
    def test_golden_requests(self) -> None:
        """Byte for byte what the Rust codec reads and writes."""
        body = """
            with host.start_process("git", ["add", "--patch"], ["LANG"], cwd="./sub", terminal=(40, 120)) as git:
                git.read()
                git.read(wait=30, settle=True, view="screen", after_seq=7, max_bytes=4096)
                git.write("y")
                git.line("print(1)")
                git.keys("ctrl-c", "up")
                git.resize(24, 80)
                git.end_input()
                git.write([{"keys": ["up"]}, None])
            return str(git.is_stopped)
        """
        host = Host(tool(body), on_request=Echo()).run()
        self.assertEqual(host.result, "True")
        wanted = [
            '"process.start","params":{"program":"git","args":["add","--patch"],"envs":["LANG"],'
            '"cwd":"sub","terminal":{"rows":40,"cols":120}}',
            '"process.read","params":{"process":7}',
            '"process.read","params":{"process":7,"view":"screen","after_seq":7,"max_bytes":4096,'
            '"wait_ms":30000,"settle":true}',
            '"process.write","params":{"process":7,"input":"y"}',
            '"process.write","params":{"process":7,"input":{"line":"print(1)"}}',
            '"process.write","params":{"process":7,"input":{"keys":["ctrl-c","up"]}}',
            '"process.write","params":{"process":7,"input":{"resize":{"rows":24,"cols":80}}}',
            '"process.write","params":{"process":7,"input":{"end":true}}',
            '"process.write","params":{"process":7,"input":[{"keys":["up"]},null]}',
            '"process.stop","params":{"process":7}',
        ]
        for index, (line, request) in enumerate(zip(host.lines, wanted), start=1):
            expected = f'{{"jsonrpc":"2.0","id":{index},"method":{request}}}\n'
            self.assertEqual(line.decode(), expected)

    def test_forms_of_a_start(self) -> None:
        cases: List[JsonObject] = [
            {"call": "'cat'", "more": {}},
            {"call": "'cat', terminal=True", "more": {"terminal": {}}},
            {"call": "'cat', terminal=False, cwd='.'", "more": {"cwd": "."}},
        ]
        for case in cases:
            with self.subTest(case["call"]):
                source = tool(f"host.start_process({case['call']})")
                host = Host(source, on_request=Echo()).run()
                expected = {"program": "cat", "args": [], "envs": [], **case["more"]}
                self.assertEqual(host.asked("process.start"), [expected])

    def test_what_is_read(self) -> None:
        answers: Dict[str, Any] = {
            '{"running": true, "content": "x", "seq": 1, "cut": {"bytes": 3, "hint": "gone"}, '
            '"terminal": {"rows": 24, "cols": 80, "cursor": [0, 4], "alternate": false}}': [
                "ProcessOutput(running=True, content='x', seq=1, cut=Cut(bytes=3, hint='gone'), "
                "terminal=Terminal(rows=24, cols=80, cursor=(0, 4), alternate=False), "
                "exit_code=None, signal=None)"
            ],
            '{"running": false, "content": "", "seq": 0, "exit_code": -1}': [
                "ProcessOutput(running=False, content='', seq=0, cut=None, terminal=None, "
                "exit_code=-1, signal=None)"
            ],
        }
        for answer, expected in answers.items():
            self.assertEqual(json.loads(self._read(answer).result), expected)
        for broken in [
            '{"running": true, "content": "x"}',
            '{"running": 1, "content": "x", "seq": 1}',
            '{"running": true, "content": "x", "seq": 1, "terminal": {"rows": 1, "cols": 1, '
            '"cursor": [1], "alternate": true}}',
        ]:
            self.assertIn("the host's answer to `process.read`", self._read(broken).error["message"])

    def _read(self, answer: str) -> Host:
        def on_request(host: Host, request: JsonObject) -> bool:
            started = {"process": 1}
            is_read = request["method"] == "process.read"
            host.send({"id": request["id"], "result": json.loads(answer) if is_read else started})
            return True

        body = "return [repr(host.start_process('cat').read())]"
        return Host(tool(body), on_request=on_request).run()

    def test_errors(self) -> None:
        body = """
            kinds = []
            try:
                host.start_process("rm")
            except PermissionError as error:
                kinds.append(error.kind)
            process = host.start_process("python3")
            process.line("exit")
            kinds.append(process.read().exit_code)
            try:
                process.line("more")
            except vfs.ProcessEnded as error:
                kinds.append(error.kind)
            process.stop()
            for ask in (process.read, process.stop, process.end_input):
                try:
                    ask()
                except vfs.UnknownProcess as error:
                    kinds.append(error.kind)
            return kinds
        """
        host = Host(tool(body), on_request=Echo()).run()
        expected = ["denied_by_rule", 0, "process_ended"] + ["unknown_process"] * 3
        self.assertEqual(json.loads(host.result), expected)

    def test_it_is_stopped_also_when_the_tool_fails(self) -> None:
        body = """
            with host.start_process("python3"):
                raise ValueError("no")
        """
        host = Host(tool(body), on_request=Echo()).run()
        self.assertEqual(host.asked("process.stop"), [{"process": 7}])
        self.assertEqual(host.error["message"], "ValueError: no")

    def test_a_read_may_take_longer_than_other_requests(self) -> None:
        """`timeout` is about a host that does not answer, not about a program that says nothing."""

        def on_request(host: Host, request: JsonObject) -> bool:
            if request["method"] == "process.start":
                host.send({"id": request["id"], "result": {"process": 1}})
                return True
            result = {"running": True, "content": "late", "seq": 4}
            threading.Timer(1, host.send, [{"id": request["id"], "result": result}]).start()
            return True

        body = """
            process = host.start_process("sleep")
            host.timeout = 0.2
            return process.read(wait=20).content
        """
        host = Host(tool(body), on_request=on_request).run()
        self.assertEqual((host.result, len(host.lines)), ("late", 3))


class Inputs(unittest.TestCase):
    def test_output_and_input_at_once(self) -> None:
        """The host ends a read when there is input, which was sent before the answer."""
        inputs = iter(["1 + 1", None, {"line": "exit"}])

        def before_read(host: Host) -> None:
            for one in inputs:
                host.send({"method": "apply", "params": {"input": one}})
                return

        body = """
            nothing = object()
            shown = []
            with host.start_process("python3") as python:
                while True:
                    output = python.read(wait=30)
                    shown.append(output.content)
                    if not output.running:
                        return [shown, host.is_stateful]
                    while (text := host.try_apply(nothing)) is not nothing:
                        python.write(text)
        """
        echo = Echo(before_read)
        host = Host(tool(body), init={"stateful": True}, on_request=echo).run()
        shown = [">>> ", '"1 + 1"\n', "null\n", '{"line": "exit"}\n']
        self.assertEqual(json.loads(host.result), [shown, True])

    def test_nothing_has_come(self) -> None:
        body = """
            import time
            before = time.monotonic()
            found = [host.try_apply(), host.try_apply(5), host.is_stateful]
            try:
                host.wait_apply(0.05)
            except TimeoutError as error:
                found += [error.kind, error.retryable]
            try:
                host.wait_apply(timeout=0)
            except vfs.Timeout as error:
                found += [str(error)]
            assert time.monotonic() - before < 20
            return found
        """
        host = Host(tool(body)).run()
        expected = [None, 5, False, "timeout", True, "no input came within 0 seconds"]
        self.assertEqual(json.loads(host.result), expected)

    def test_input_in_time(self) -> None:
        def on_state(host: Host, state: JsonObject) -> None:
            for one in ["a", "b"]:
                host.send({"method": "apply", "params": {"input": one}})

        body = """
            host.state("running")
            first = host.wait_apply(25)
            while (second := host.try_apply()) is None:
                pass
            return [first, second]
        """
        host = Host(tool(body), on_state=on_state).run()
        self.assertEqual(json.loads(host.result), ["a", "b"])

    def test_cancelled(self) -> None:
        """Whoever looks for input learns of it, and a program is then left to the host."""

        def on_state(host: Host, state: JsonObject) -> None:
            host.send({"method": "cancel"})

        for wait in ["host.wait_apply(25)", "[host.try_apply() for _ in iter(int, 1)]"]:
            body = f"host.state('running')\n{wait}"
            host = Host(tool(body), on_state=on_state).run()
            self.assertEqual(host.error["message"], "the host cancelled the tool")


@unittest.skipUnless(DOCS.is_file(), "the documentation is not here: this is not the repository")
class Documentation(unittest.TestCase):
    def test_the_stateful_tool_of_the_documentation(self) -> None:
        blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
        (source,) = [block for block in blocks if "start_process" in block]
        inputs = iter([{"line": "1 + 1"}, {"line": "exit"}])

        def before_read(host: Host) -> None:
            for one in inputs:
                host.send({"method": "apply", "params": {"input": one}})
                return

        host = Host(source, init={"stateful": True}, on_request=Echo(before_read)).run()
        self.assertEqual(host.result, "Python has ended with code 0.")
        shown = [one["params"].get("content") for one in host.notifications[:-1]]
        self.assertEqual(shown, [">>> ", '{"line": "1 + 1"}\n', '{"line": "exit"}\n'])


if __name__ == "__main__":
    unittest.main()
