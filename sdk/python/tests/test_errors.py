"""Errors: from the host, from the connection, from the tool itself."""

from __future__ import annotations

import json
import unittest
from typing import List, Optional

from fake_host import Host, JsonObject, tool

CATCH = """
    try:
        host.read('secret')
    except vfs.HostError as error:
        return [type(error).__name__, error.kind, error.code, error.message, error.path,
                error.rule, error.hint, error.retryable]
"""


class OfTheHost(unittest.TestCase):
    def check(self, error: JsonObject, expected: List[object]) -> None:
        def on_request(host: Host, request: JsonObject) -> bool:
            host.send({"id": request["id"], "error": error})
            return True

        with self.subTest(error):
            host = Host(tool(CATCH), on_request=on_request).run()
            self.assertEqual(json.loads(host.result), expected)

    def test_every_kind_has_its_class(self) -> None:
        cases = [
            (-32600, "invalid_request", "InvalidRequest"),
            (-32600, "line_too_long", "TooLarge"),
            (-32601, "method_not_found", "MethodNotFound"),
            (-32602, "invalid_params", "InvalidParams"),
            (-32602, "is_dir", "IsDirectory"),
            (-32602, "not_dir", "NotDirectory"),
            (-32602, "no_match", "NoMatch"),
            (-32602, "unknown_process", "UnknownProcess"),
            (-32602, "process_ended", "ProcessEnded"),
            (-32602, "ambiguous", "Ambiguous"),
            (-32603, "internal", "InternalError"),
            (-32001, "denied_by_rule", "AccessDenied"),
            (-32001, "uncovered", "AccessDenied"),
            (-32001, "approval_denied", "AccessDenied"),
            (-32001, "approval_unavailable", "AccessDenied"),
            (-32001, "approval_timeout", "AccessDenied"),
            (-32001, "escape", "AccessDenied"),
            (-32001, "protected", "AccessDenied"),
            (-32001, "sensitive", "AccessDenied"),
            (-32002, "not_found", "NotFound"),
            (-32003, "already_exists", "AlreadyExists"),
            (-32003, "stale", "Stale"),
            (-32004, "timeout", "Timeout"),
            (-32005, "cancelled", "Cancelled"),
            (-32006, "too_large", "TooLarge"),
        ]
        for code, kind, name in cases:
            data = {"kind": kind, "path": "p", "rule": "r", "hint": "h", "retryable": True}
            error = {"code": code, "message": "m", "data": data}
            self.check(error, [name, kind, code, "m", "p", "r", "h", True])

    def test_a_denial_says_what_was_wanted_and_what_is_granted(self) -> None:
        work = """
    try:
        host.read('secret')
    except vfs.HostError as error:
        return [error.kind, error.operation, error.target, list(error.grants)]
"""

        def check(data: JsonObject, expected: List[object]) -> None:
            def on_request(host: Host, request: JsonObject) -> bool:
                host.send({"id": request["id"], "error": {"code": -32001, "data": data}})
                return True

            with self.subTest(data):
                host = Host(tool(work), on_request=on_request).run()
                self.assertEqual(json.loads(host.result), expected)

        full = {"kind": "sensitive", "operation": "read", "target": "a", "grants": ["g", "h"]}
        check(full, ["sensitive", "read", "a", ["g", "h"]])
        check({"kind": "sensitive"}, ["sensitive", None, None, []])
        check({**full, "grants": None}, ["sensitive", "read", "a", []])
        for grants in ["g", [1], {"g": 1}]:
            check({**full, "grants": grants}, ["uncovered", None, None, []])

    def test_errors_with_less(self) -> None:
        """V-023: the documents' errors have no data. What is not ours in it is ignored."""
        nothing: List[Optional[str]] = [None, None, None]
        cases: List[object] = [None, "text", {"kind": 5}, {"kind": "escape", "retryable": "no"}]
        for data in cases:
            error = {"code": -32001, "message": "m", **({} if data is None else {"data": data})}
            self.check(error, ["AccessDenied", "uncovered", -32001, "m", *nothing, False])
        self.check({"code": -32004}, ["Timeout", "timeout", -32004, "", *nothing, True])
        self.check({"code": 7}, ["InternalError", "internal", 7, "", *nothing, False])
        data = {"kind": "from_the_future"}
        self.check(
            {"code": -32002, "data": data},
            ["NotFound", "from_the_future", -32002, "", *nothing, False],
        )

    def test_without_id(self) -> None:
        """X-64: an answer without id is about the one line that we sent."""

        def on_request(host: Host, request: JsonObject) -> bool:
            error = {"code": -32600, "message": "m", "data": {"kind": "line_too_long"}}
            host.send({"id": None, "error": error})
            return True

        host = Host(tool(CATCH), on_request=on_request).run()
        self.assertEqual(json.loads(host.result)[:2], ["TooLarge", "line_too_long"])

    def test_are_pythons_errors_too(self) -> None:
        """Code that was written for ordinary files catches what it always caught."""
        body = """
            import errno
            seen = []
            for path, usual in [('nope', FileNotFoundError), ('/etc', PermissionError),
                                ('src', IsADirectoryError)]:
                try:
                    host.read(path)
                except usual as error:
                    seen.append([errno.errorcode[error.errno], error.filename, str(error)])
            try:
                host.write('src/a', '', exclusive=True)
            except FileExistsError as error:
                seen.append([errno.errorcode[error.errno], error.filename, str(error)])
            return seen
        """
        host = Host(tool(body), files={"src/a": b""}).run()
        escape = "access denied: path `/etc` leads out of the workspace"
        self.assertEqual(
            json.loads(host.result),
            [
                ["ENOENT", "nope", "`nope` does not exist"],
                ["EACCES", "/etc", escape],
                ["EISDIR", "src", "`src` is a directory"],
                ["EEXIST", "src/a", "refused"],
            ],
        )


class OfTheConnection(unittest.TestCase):
    def test_malformed_line_then_the_answer(self) -> None:
        """A line that is no message is reported, and the connection is kept."""
        lines = [b"{oops\n", b"[]\n", b"\xff\n", b'{"id":1,"result":{}}\n', b"[" * 100_000 + b"\n"]
        lines += [b'{"jsonrpc":"2.0","method":5}\n']
        for line in lines:
            with self.subTest(line[:20]):

                def on_request(host: Host, request: JsonObject, line: bytes = line) -> bool:
                    if request["id"] == 1:
                        host.send_raw(line)
                    return False

                body = """
                    try:
                        host.read('a')
                    except vfs.ProtocolError as error:
                        return [error.kind, host.read('b')]
                """
                files = {"a": b"A", "b": b"B"}
                host = Host(tool(body), files=files, on_request=on_request).run()
                self.assertEqual(json.loads(host.result), ["protocol", "B"])

    def test_answers_that_are_none(self) -> None:
        answers: List[JsonObject] = [{}, {"result": {}, "error": {"code": 1}}, {"result": 5}]
        answers += [{"error": 5}, {"error": {}}]
        for answer in answers:
            with self.subTest(answer):

                def on_request(host: Host, request: JsonObject, a: JsonObject = answer) -> bool:
                    host.send({"id": request["id"], **a})
                    return True

                host = Host(tool(CATCH), on_request=on_request).run()
                self.assertEqual(json.loads(host.result)[:2], ["ProtocolError", "protocol"])

    def test_what_is_new_is_passed_over(self) -> None:
        """V-171, and answers to requests that are not open."""

        def on_request(host: Host, request: JsonObject) -> bool:
            host.send_raw(b"\n  \r\n")
            host.send({"method": "weather", "params": {"is": "fine"}})
            for other in (99, "1", 1.0, True):
                host.send({"id": other, "result": {"content": "wrong"}})
            host.send({"id": 1, "result": {"content": "right", "new": 1}, "also_new": 2})
            return True

        host = Host(tool("return host.read('a')"), on_request=on_request).run()
        self.assertEqual(host.result, "right")

    def test_end_of_the_connection(self) -> None:
        def on_request(host: Host, request: JsonObject) -> bool:
            host.close_input()
            return True

        host = Host(tool("host.read('a')"), on_request=on_request).run()
        self.assertEqual((host.notifications, host.exit_code), ([], 1))
        self.assertIn("the host has closed the connection", host.stderr)
        body = """
            for _ in range(2):
                try:
                    host.read('a')
                except ConnectionError as error:
                    print(error.kind)
        """
        host = Host(tool(body), on_request=on_request).run()
        self.assertEqual(host.stderr, "disconnected\n" * 2)

    def test_end_amid_a_blob(self) -> None:
        def on_request(host: Host, request: JsonObject) -> bool:
            host.send({"id": 1, "result": {"size": 9}, "blob": 9}, b"1234")
            host.close_input()
            return True

        init: JsonObject = {"capabilities": {"blobs": {}}}
        host = Host(tool(CATCH), init=init, on_request=on_request).run()
        self.assertEqual(json.loads(host.result)[0], "Disconnected")

    def test_first_message_is_no_call(self) -> None:
        cases = [
            ([], "the host has closed the connection"),
            ([b"nonsense\n"], "not JSON"),
            ([b'{"jsonrpc":"2.0","method":"apply"}\n'], "not `init`"),
            ([b'{"jsonrpc":"2.0","method":"cancel"}\n'], "cancelled"),
            ([b'{"jsonrpc":"2.0","method":"init"}\n'], "`tool` must be an object"),
            ([b'{"jsonrpc":"2.0","method":"init","params":[]}\n'], "must be an object"),
            (
                [b'{"jsonrpc":"2.0","method":"init","params":{"tool":{"name":"a"}}}\n'],
                "`protocol_version` must be a string",
            ),
            (
                [
                    b'{"jsonrpc":"2.0","method":"init","params":{"tool":{"name":"a"},'
                    b'"protocol_version":"2.0.0","supported":["2.0.0","1.0.0"]}}\n'
                ],
                "version 2.0.0",
            ),
        ]
        for lines, expected in cases:
            with self.subTest(lines):
                host = Host(tool("return 1"), first_lines=lines)
                host._converse = lambda host=host: feed(host)  # type: ignore
                host.run()
                self.assertEqual((host.lines, host.exit_code), ([], 1))
                self.assertIn(expected, host.stderr)

    def test_line_over_the_limit_is_not_sent(self) -> None:
        body = """
            try:
                host.write('a', 'x' * 2000)
            except vfs.TooLarge as error:
                host.write('a', 'small')
                return 'x' * 2000
        """
        host = Host(tool(body), init={"limits": {"message_bytes": 1000}}).run()
        self.assertEqual(host.files, {"a": b"small"})
        self.assertIn("the limit is 1000", host.error["message"])


class OfTheTool(unittest.TestCase):
    """What a function raises becomes `error` (V-029, V-030)."""

    def test_exception(self) -> None:
        body = """
            try:
                {}['x']
            except KeyError as error:
                raise ValueError('no such thing') from error
        """
        host = Host(tool(body)).run()
        self.assertEqual(host.error["message"], "ValueError: no such thing")
        self.assertEqual(host.error["trace"], ["KeyError: 'x'", "at tool.py:9 in test"])
        self.assertEqual((host.error["transient"], host.exit_code), (False, 1))
        self.assertIn("Traceback", host.stderr)

    def test_refusal(self) -> None:
        """A denial is told with the rule and the hint, and is worth a retry if the host says so."""

        def on_request(host: Host, request: JsonObject) -> bool:
            data = {"kind": "approval_timeout", "rule": "jig.toml:3", "hint": "add a rule"}
            error = {"code": -32001, "message": "nobody answered", "data": data}
            host.send({"id": request["id"], "error": error})
            return True

        host = Host(tool("host.read('a')"), on_request=on_request).run()
        self.assertEqual(
            host.error,
            {
                "message": "nobody answered",
                "trace": [
                    "kind: approval_timeout",
                    "rule: jig.toml:3",
                    "hint: add a rule",
                    "at tool.py:5 in test",
                ],
                "transient": True,
            },
        )

    def test_failure_in_its_own_words(self) -> None:
        body = "raise vfs.ToolFailure('no such branch', trace=['a'], transient=True)"
        host = Host(tool(body)).run()
        expected = {"message": "no such branch", "trace": ["a"], "transient": True}
        self.assertEqual((host.error, host.stderr), (expected, ""))

    def test_exit(self) -> None:
        host = Host(tool("import sys; sys.exit()")).run()
        self.assertEqual((host.result, host.exit_code), ("", 0))
        host = Host(tool("import sys; sys.exit('because')")).run()
        self.assertEqual((host.error["message"], host.exit_code), ("because", 1))
        host = Host(tool("import sys; sys.exit(3)")).run()
        self.assertEqual(
            (host.error["message"], host.exit_code), ("the tool ended with exit code 3", 3)
        )

    def test_result_that_cannot_be_shown(self) -> None:
        host = Host(tool("return object()")).run()
        self.assertIn("can't be shown as JSON", host.error["message"])
        host = Host(tool("return '\\udcff'")).run()
        self.assertIn("UnicodeEncodeError", host.error["message"])
        host = Host(tool("raise ValueError('\\udcff')")).run()
        self.assertEqual(host.error["message"], "ValueError: ?")

    def test_nothing_after_the_result(self) -> None:
        body = """
            host.result('done')
            for late in (lambda: host.read('a'), lambda: host.result('again'),
                         lambda: host.error('again'), lambda: host.state('running')):
                try:
                    late()
                except RuntimeError:
                    print('refused')
        """
        host = Host(tool(body)).run()
        self.assertEqual((host.result, host.stderr), ("done", "refused\n" * 4))
        host = Host(tool("host.result('done'); raise ValueError")).run()
        self.assertEqual((host.result, host.exit_code), ("done", 1))

    def test_missing_argument(self) -> None:
        source = """
            from jig_tool import vfs
            vfs.main(lambda host, path: 1)
        """
        self.assertEqual(Host(source).run().error["message"], "the argument `path` is missing")


def feed(host: Host) -> None:
    """Sends the first lines, then ends the connection."""
    for line in host.first_lines or []:
        host.send_raw(line)
    host.close_input()
    for line in host.process.stdout:
        host._take(line)


if __name__ == "__main__":
    unittest.main()
