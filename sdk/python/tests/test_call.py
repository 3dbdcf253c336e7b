"""The call itself: its input, questions, states, cancellation, and what is printed."""

from __future__ import annotations

import json
import threading
import unittest
from typing import Any, List

from fake_host import ALL_CAPABILITIES, Host, JsonObject, tool


class Start(unittest.TestCase):
    """`init` and `ready` (V-090 to V-094, V-165)."""

    def test_everything_that_is_told(self) -> None:
        body = """
            return [host.tool.name, host.tool.arguments, host.tool.answers, host.tool.options,
                    host.protocol_version, host.context.root, host.context.access,
                    host.limits.file_bytes, host.limits.cancel_grace, host.limits.response,
                    sorted(host.methods), host.is_open('fs.read'), host.is_open('fs.write'),
                    host.capabilities.names()]
        """
        init = {
            "methods": ["fs.read", "fs.new"],
            "limits": {"file_bytes": 5, "cancel_grace_ms": 2500},
            "capabilities": {"etag": {}, "pages": False, "ranges": None, "blobs": True},
            "context": {
                "root": "/w",
                "action": "run",
                "workspace_id": "w",
                "conversation_id": "c",
                "access": {"fs": []},
            },
        }
        host = Host(
            tool(body), arguments={"a": [1]}, answers={"q": True}, options={"o": None}, init=init
        ).run()
        expected: List[Any] = [
            "test",
            {"a": [1]},
            {"q": True},
            {"o": None},
            "0.1.0",
            "/w",
            {"fs": []},
        ]
        expected += [5, 2.5, 30.0, ["fs.new", "fs.read"], True, False, ["etag", "blobs"]]
        self.assertEqual(json.loads(host.result), expected)

    def test_ready_is_sent_once_and_only_for_an_offer(self) -> None:
        ready: JsonObject = {name: {} for name in ("pending", "pages", "ranges", "etag", "blobs")}
        host = Host(tool("host.exists('a')"), init={"capabilities": ALL_CAPABILITIES}).run()
        self.assertEqual(
            host.lines[0].decode(),
            '{"jsonrpc":"2.0","method":"ready","params":{"capabilities":%s}}\n'
            % json.dumps(ready, separators=(",", ":")),
        )
        self.assertEqual(len(host.lines), 3)
        for capabilities in ({}, {"fd_pass": {}, "concurrency": {"max_in_flight": 2}}):
            host = Host(tool("host.exists('a')"), init={"capabilities": capabilities}).run()
            self.assertEqual([one["method"] for one in host.notifications], ["result"])

    def test_plain_on_request(self) -> None:
        source = """
            from jig_tool import vfs
            host = vfs.connect(plain=True)
            host.result(host.read('a'))
        """
        init = {"capabilities": ALL_CAPABILITIES}
        host = Host(source, files={"a": b"A"}, init=init).run()
        self.assertEqual((host.result, host.asked("fs.read")), ("A", [{"path": "a"}]))

    def test_older_version_is_asked_for(self) -> None:
        init = {"protocol_version": "1.2.0", "supported": ["1.2.0", "0.1.0"]}
        host = Host(tool("return host.protocol_version"), init=init).run()
        ready = {"protocol_version": "0.1.0", "capabilities": {}}
        self.assertEqual((host.result, host.notifications[0]["params"]), ("0.1.0", ready))

    def test_arguments_become_parameters(self) -> None:
        source = """
            from jig_tool import vfs

            @vfs.tool
            def report(host, path, depth=3, *, style="plain"):
                return [path, depth, style]

            assert report(None, "called") == ["called", 3, "plain"]
            report.main()
        """
        host = Host(source, arguments={"path": "a", "style": "b", "more": 1}).run()
        self.assertEqual(json.loads(host.result), ["a", 3, "b"])
        source = "from jig_tool import vfs\nvfs.main(lambda host, **arguments: arguments)\n"
        host = Host(source, arguments={"path": "a", "host": "b"}).run()
        self.assertEqual(json.loads(host.result), {"path": "a"})

    def test_nothing_is_done_when_arguments_are_shown(self) -> None:
        init = {"context": {"root": "/w", "action": "format_arguments"}}
        host = Host(tool("host.delete('a')"), arguments={"path": "é"}, init=init).run()
        self.assertEqual((host.result, host.requests), ('{\n  "path": "é"\n}', []))
        source = """
            from jig_tool import vfs
            vfs.main(lambda host: host.delete('a'), format_arguments=lambda host: 'deletes a')
        """
        host = Host(source, init=init).run()
        self.assertEqual((host.result, host.requests), ("deletes a", []))

    def test_once(self) -> None:
        host = Host(tool("vfs.connect()")).run()
        self.assertIn("already connected", host.error["message"])


class Results(unittest.TestCase):
    def test_what_a_function_returns(self) -> None:
        block = {"type": "text", "text": "a"}
        resource = {"type": "resource", "resource": {"uri": "file:a", "text": "x"}, "title": "A"}
        cases: List[JsonObject] = [
            {"body": "return 'text'", "content": "text"},
            {"body": "return None", "content": ""},
            {"body": "return [vfs.Text('a'), %r]" % block, "content": [block, block]},
            {"body": "return vfs.Resource('file:a', 'x', title='A')", "content": [resource]},
            {
                "body": "return vfs.Resource('file:a', b'\\xff', 'image/png')",
                "content": [
                    {
                        "type": "resource",
                        "resource": {"uri": "file:a", "mimeType": "image/png", "blob": "/w=="},
                    }
                ],
            },
            {
                "body": "return {'type': 'text', 'x': 1}",
                "content": '{\n  "type": "text",\n  "x": 1\n}',
            },
            {"body": "return 5", "content": "5"},
            {"body": "return []", "content": "[]"},
            {
                "body": "return vfs.Edit('a', 'b')",
                "content": '{\n  "old": "a",\n  "new": "b",\n  "all": false\n}',
            },
        ]
        for case in cases:
            with self.subTest(case["body"]):
                self.assertEqual(Host(tool(case["body"])).run().result, case["content"])


class Questions(unittest.TestCase):
    """X-22: a known answer, or `state waiting` and `apply`."""

    ask = "return [host.ask(vfs.Question.yes_no('sure', 'Sure?', default=False), 'Deletes a.')]"

    def test_known_answer(self) -> None:
        host = Host(tool(self.ask), answers={"sure": False}).run()
        self.assertEqual((json.loads(host.result), len(host.lines)), ([False], 1))

    def test_answer_that_is_given(self) -> None:
        def on_state(host: Host, state: JsonObject) -> None:
            host.send({"method": "apply", "params": {"input": True}})

        host = Host(tool(self.ask), on_state=on_state).run()
        self.assertEqual(json.loads(host.result), [True])
        expected = (
            '{"jsonrpc":"2.0","method":"state","params":{"type":"waiting","content":"Deletes a.",'
            '"question":{"id":"sure","text":"Sure?","schema":{"type":"boolean"},"default":false}}}\n'
        )
        self.assertEqual(host.lines[0].decode(), expected)

    def test_input_before_the_question_is_no_answer(self) -> None:
        """An answer is remembered, requests may follow (V-127), and earlier input is not lost."""

        def on_request(host: Host, request: JsonObject) -> bool:
            if request["id"] != 1:
                return False
            host.send({"method": "apply", "params": {"input": "first"}})
            host.send({"id": 1, "result": {"exists": True}})
            host.send({"method": "apply", "params": {"input": "second"}})
            return True

        def on_state(host: Host, state: JsonObject) -> None:
            host.send({"method": "apply", "params": {"input": "blue"}})

        body = """
            import time
            host.exists('a')
            while host._session._channel._inbox.empty():
                time.sleep(0.001)
            question = vfs.Question.select('color', 'Which?', ['red', 'blue'], context='Paint.')
            first = host.ask(question)
            host.exists('b')
            again = host.ask(question)
            return [first, again, host.tool.answers, host.receive(), host.receive()]
        """
        host = Host(tool(body), on_request=on_request, on_state=on_state).run()
        expected = ["blue", "blue", {"color": "blue"}, "first", "second"]
        self.assertEqual(json.loads(host.result), expected)
        question = {
            "id": "color",
            "text": "Which?",
            "context": "Paint.",
            "schema": {"type": "string", "enum": ["red", "blue"]},
        }
        params = {"type": "waiting", "question": question}
        self.assertEqual(host.notifications[0]["params"], params)

    # How a tool can wait for the answer to its question.
    ways = [
        "answer = host.ask(question)",
        "host.state('waiting', question=question); answer = host.wait_answer('sure')",
        "host.state('waiting', question=question); host.exists('b'); answer = host.wait_answer('sure')",
        "host.state('waiting', question=question); answer = host.wait_apply()",
        "host.state('waiting', question=question); answer = host.wait_apply(25)",
    ]

    def test_a_driven_tool_takes_only_what_names_its_question(self) -> None:
        """V-122: neither input that came before the question nor such that crossed it."""

        def on_request(host: Host, request: JsonObject) -> bool:
            if request["id"] == 1:
                host.send({"method": "apply", "params": {"input": True}})
            return False

        def on_state(host: Host, state: JsonObject) -> None:
            host.send({"method": "apply", "params": {"input": "crossed"}})
            host.send({"method": "apply", "params": {"input": "other", "question": "color"}})
            host.send({"method": "apply", "params": {"input": False, "question": "sure"}})
            host.send({"method": "apply", "params": {"input": "later"}})

        for way in self.ways:
            body = f"""
                host.exists('a')
                question = vfs.Question.yes_no('sure', 'Sure?')
                {way}
                return [answer, *(host.receive() for _ in range(4))]
            """
            init = {"stateful": True}
            host = Host(tool(body), init=init, on_request=on_request, on_state=on_state).run()
            expected = [False, True, "crossed", "other", "later"]
            self.assertEqual(json.loads(host.result), expected, way)

    def test_an_answer_is_for_the_question_that_was_put_last(self) -> None:
        def on_state(host: Host, state: JsonObject) -> None:
            asked = len(host.notifications)
            host.send({"method": "apply", "params": {"input": asked, "question": "sure"}})

        body = """
            import time
            question = vfs.Question.yes_no('sure', 'Sure?')
            host.state('waiting', question=question)
            while host._session._channel._inbox.empty():
                time.sleep(0.001)
            host.state('waiting', question=question)
            found = [host.wait_answer('sure'), host.receive()]
            for question_id in ['sure', 'other']:
                try:
                    host.wait_answer(question_id)
                except ValueError as error:
                    found.append(str(error))
            return found
        """
        for init in [{"stateful": True}, {}]:
            host = Host(tool(body), init=init, on_state=on_state).run()
            expected = [2, 1, "the question `sure` is not open", "the question `other` is not open"]
            self.assertEqual(json.loads(host.result), expected)

    def test_a_host_that_does_not_mark_answers(self) -> None:
        """One-shot calls, and hosts of before: what comes after the question is its answer."""

        def on_state(host: Host, state: JsonObject) -> None:
            host.send({"method": "apply", "params": {"input": "other", "question": "color"}})
            host.send({"method": "apply", "params": {"input": True}})

        for way in self.ways[:3]:
            body = f"""
                question = vfs.Question.yes_no('sure', 'Sure?')
                {way}
                return [answer, host.receive()]
            """
            host = Host(tool(body), on_state=on_state).run()
            self.assertEqual(json.loads(host.result), [True, "other"], way)

    def test_cancelled_while_it_waits(self) -> None:
        def on_state(host: Host, state: JsonObject) -> None:
            host.send({"method": "cancel"})

        host = Host(tool(self.ask), on_state=on_state).run()
        self.assertEqual(host.error["message"], "the host cancelled the tool")


class States(unittest.TestCase):
    def test_stateful_tool(self) -> None:
        """V-121 to V-127: the process lives on from state to state."""
        body = """
            hunks = ['one', 'two']
            staged = []
            for hunk in hunks:
                host.state('running', f'Next hunk: {hunk}')
                if host.receive() == 'y':
                    staged.append(hunk)
                    host.append('staged', hunk)
            host.state('waiting', question=vfs.Question.line('why', 'Message?'))
            staged.append(host.receive())
            host.state('stopped', result=f'Staged {staged}.')
        """
        inputs = iter(["y", "n", "because"])

        def on_state(host: Host, state: JsonObject) -> None:
            if state["type"] != "stopped":
                host.send({"method": "apply", "params": {"input": next(inputs)}})

        host = Host(tool(body), on_state=on_state).run()
        self.assertEqual(
            [one["params"] for one in host.notifications],
            [
                {"type": "running", "content": "Next hunk: one"},
                {"type": "running", "content": "Next hunk: two"},
                {
                    "type": "waiting",
                    "question": {"id": "why", "text": "Message?", "schema": {"type": "string"}},
                },
                {"type": "stopped", "result": "Staged ['one', 'because']."},
            ],
        )
        self.assertEqual(host.files, {"staged": b"one"})

    def test_misuse(self) -> None:
        cases = ["host.state('done')", "host.state('waiting')"]
        cases += ["host.state('running', question=vfs.Question.line('a', 'b'))"]
        for call in cases:
            self.assertIn("ValueError", Host(tool(call)).run().error["message"])


class Cancellation(unittest.TestCase):
    """V-110, V-111, X-56."""

    def test_while_it_waits_for_an_answer(self) -> None:
        """The request ends with `Cancelled`. So does every later one, as the host answers them, and
        the late answer is no answer to anything else."""

        def on_request(host: Host, request: JsonObject) -> bool:
            if request["id"] == 1:
                host.send({"method": "cancel"})
                return True
            if request["id"] == 2:
                error = {"code": -32005, "message": "late", "data": {"kind": "cancelled"}}
                host.send({"id": 1, "error": error})
                host.send({"id": 2, "error": {**error, "message": "cancelled"}})
                return True
            return False

        body = """
            try:
                host.read('slow')
            finally:
                try:
                    host.delete('lock')
                except vfs.Cancelled as error:
                    print('finished', host.is_cancelled, error)
        """
        host = Host(tool(body), files={"lock": b""}, on_request=on_request).run()
        self.assertEqual(host.error["message"], "the host cancelled the tool")
        self.assertEqual((host.stderr, host.exit_code), ("finished True cancelled\n", 1))

    def test_while_it_computes(self) -> None:
        """A tool learns of it without asking for anything."""

        def on_request(host: Host, request: JsonObject) -> bool:
            host.send({"id": request["id"], "result": {"exists": True}})
            host.send({"method": "cancel"})
            return True

        body = """
            import time
            host.exists('a')
            while True:
                host.check_cancelled()
                time.sleep(0.001)
        """
        host = Host(tool(body), on_request=on_request).run()
        self.assertEqual(host.error["message"], "the host cancelled the tool")

    def test_between_requests(self) -> None:
        """The next request is not sent."""

        def on_request(host: Host, request: JsonObject) -> bool:
            host.send({"id": request["id"], "result": {"exists": True}})
            host.send({"method": "cancel"})
            return True

        body = """
            import time
            host.exists('a')
            while not host.is_cancelled:
                time.sleep(0.001)
            host.exists('b')
        """
        host = Host(tool(body), on_request=on_request).run()
        self.assertEqual([one["path"] for one in host.asked("fs.exists")], ["a"])
        self.assertEqual(host.error["message"], "the host cancelled the tool")

    def test_request_that_takes_too_long(self) -> None:
        """The tool gives it up, and the host answers all the same."""
        body = """
            host.timeout = 0.05
            try:
                host.read('slow')
            except TimeoutError as error:
                host.timeout = None
                return [error.kind, error.retryable, host.read('a')]
        """
        cancel = '{"jsonrpc":"2.0","method":"cancel","params":{"request_id":1}}\n'

        def withheld(host: Host, request: JsonObject) -> bool:
            return bool(request["id"] == 1)

        host = Host(tool(body), files={"a": b"A"}, on_request=withheld).run()
        self.assertEqual(json.loads(host.result), ["timeout", True, "A"])
        self.assertEqual(host.lines[1].decode(), cancel)

        def cancelled(host: Host, params: JsonObject) -> None:
            error = {"code": -32005, "message": "cancelled", "data": {"kind": "cancelled"}}
            host.send({"id": params["request_id"], "error": error})

        host = Host(tool(body), files={"a": b"A"}, on_request=withheld, on_cancel=cancelled).run()
        self.assertEqual(json.loads(host.result), ["timeout", True, "A"])

        def faster(host: Host, params: JsonObject) -> None:
            host.send({"id": params["request_id"], "result": {"content": "in time", "size": 7}})

        body = "host.timeout = 0.05; return host.read('slow')"
        host = Host(tool(body), on_request=withheld, on_cancel=faster).run()
        self.assertEqual(host.result, "in time")

    def test_request_that_waits_for_a_person(self) -> None:
        """V-174: the clock stops when the host says that someone is asked."""

        def on_request(host: Host, request: JsonObject) -> bool:
            params = {"request_id": request["id"], "reason": "awaiting user approval"}
            host.send({"method": "pending", "params": params})
            answer = {"id": request["id"], "result": {"content": "late", "size": 4}}
            threading.Timer(1.5, host.send, [answer]).start()
            return True

        body = """
            host.timeout = 1.0
            host.on_pending = print
            return host.read('a')
        """
        host = Host(tool(body), on_request=on_request).run()
        self.assertEqual((host.result, host.stderr), ("late", "awaiting user approval\n"))
        self.assertEqual([one["method"] for one in host.notifications], ["result"])

    def test_request_amid_a_request(self) -> None:
        """It would take the answer that the other one waits for."""

        def on_request(host: Host, request: JsonObject) -> bool:
            params = {"request_id": request["id"], "reason": "why"}
            host.send({"method": "pending", "params": params})
            return False

        body = """
            def on_pending(reason):
                try:
                    host.read('b')
                except RuntimeError as error:
                    print(error)
            host.on_pending = on_pending
            return host.read('a')
        """
        host = Host(tool(body), files={"a": b"A"}, on_request=on_request).run()
        self.assertEqual((host.result, len(host.requests)), ("A", 1))
        self.assertIn("while this thread waits for an answer", host.stderr)


class Streams(unittest.TestCase):
    """Nothing gets into the protocol by accident."""

    def test_everything_that_is_printed_goes_to_standard_error(self) -> None:
        source = """
            import ctypes, os, subprocess, sys
            from sys import stdout
            print("import")
            from jig_tool import vfs

            @vfs.tool
            def test(host):
                print("print")
                stdout.write("stream\\n")
                stdout.flush()
                sys.__stdout__.write("original\\n")
                sys.__stdout__.flush()
                os.write(1, b"descriptor\\n")
                subprocess.run([sys.executable, "-c", "print('child')"], check=True)
                return host.read("a")

            test.main()
        """
        host = Host(source, files={"a": b"A"}).run()
        self.assertEqual((host.result, len(host.lines)), ("A", 2))
        printed = ["import", "print", "stream", "original", "descriptor", "child"]
        self.assertEqual(host.stderr.split(), printed)

    def test_standard_input_is_empty(self) -> None:
        body = """
            import subprocess, sys
            child = subprocess.run([sys.executable, '-c', 'input()'], stderr=subprocess.DEVNULL)
            assert child.returncode != 0
            try:
                input()
            except EOFError:
                return host.read('a')
        """
        self.assertEqual(Host(tool(body), files={"a": b"A"}).run().result, "A")

    def test_threads_take_turns(self) -> None:
        """V-101, V-173: many requests, one at a time."""
        body = """
            from concurrent.futures import ThreadPoolExecutor
            with ThreadPoolExecutor(8) as pool:
                return sum(len(text) for text in pool.map(host.read, ['a'] * 500))
        """
        host = Host(tool(body), files={"a": b"xx"}).run()
        self.assertEqual(host.result, "1000")
        self.assertEqual([one["id"] for one in host.requests], list(range(1, 501)))


if __name__ == "__main__":
    unittest.main()
