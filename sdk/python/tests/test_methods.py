"""Every method: what is sent, and what is made of the answer (V-044 to V-085, V-166)."""

from __future__ import annotations

import json
import unittest
from typing import Any, List, Tuple

from fake_host import ALL_CAPABILITIES, Host, JsonObject, tool

ALL = {"capabilities": ALL_CAPABILITIES}
BINARY = bytes(range(256))


class Wire(unittest.TestCase):
    """The lines, byte by byte, as the host's own codec writes and reads them."""

    def check(self, call: str, expected: str, answer: JsonObject) -> None:
        def on_request(host: Host, request: JsonObject) -> bool:
            host.send({"id": request["id"], "result": answer})
            return True

        host = Host(tool(f"{call}\n"), on_request=on_request).run()
        self.assertEqual(host.exit_code, 0, host.stderr)
        self.assertEqual(host.lines[0].decode(), expected + "\n")

    def test_requests(self) -> None:
        def request(method: str, params: str) -> str:
            return '{"jsonrpc":"2.0","id":1,"method":"%s","params":{%s}}' % (method, params)

        file = {"content": "fn main() {}", "size": 12}
        page = {"status": 200, "body": "x"}
        cases: List[Tuple[str, str, str, JsonObject]] = [
            ("host.read('src/main.rs')", "fs.read", '"path":"src/main.rs"', file),
            ("host.write('a', 'x\\ny')", "fs.write", '"path":"a","content":"x\\ny"', {}),
            (
                "host.write('a', 'x', exclusive=True)",
                "fs.write",
                '"path":"a","content":"x","exclusive":true',
                {},
            ),
            (
                "host.write_bytes('a', b'\\xff')",
                "fs.write",
                '"path":"a","content":"/w==","encoding":"base64"',
                {},
            ),
            ("host.append('a', 'é')", "fs.append", '"path":"a","content":"é"', {}),
            (
                "host.patch('a', [('x', 'y'), vfs.Edit('p', 'q', all=True)])",
                "fs.patch",
                '"path":"a","edits":[{"old":"x","new":"y"},{"old":"p","new":"q","all":true}]',
                {},
            ),
            ("host.exists('a')", "fs.exists", '"path":"a"', {"exists": True}),
            ("host.list_dir()", "fs.list_dir", '"path":"."', {"entries": []}),
            ("host.metadata('a')", "fs.metadata", '"path":"a"', {"kind": "file", "size": 1}),
            ("host.mkdir('a/b')", "fs.mkdir", '"path":"a/b"', {}),
            ("host.delete('a')", "fs.delete", '"path":"a"', {}),
            ("host.delete('a', recursive=True)", "fs.delete", '"path":"a","recursive":true', {}),
            ("host.rename('a', 'b')", "fs.rename", '"from":"a","to":"b"', {}),
            (
                "host.rename('a', 'b', overwrite=False)",
                "fs.rename",
                '"from":"a","to":"b","overwrite":false',
                {},
            ),
            ("host.grep('fn main')", "fs.grep", '"pattern":"fn main"', {"matches": []}),
            (
                "host.grep('x', ['src'], ['rs'], 2, literal=True, ignore_case=True)",
                "fs.grep",
                '"pattern":"x","paths":["src"],"extensions":["rs"],"context":2,'
                '"literal":true,"ignore_case":true',
                {"matches": []},
            ),
            (
                "host.http_get('https://a.b', {'Authorization': 'Bearer ${T}'})",
                "http.get",
                '"url":"https://a.b","headers":[{"name":"Authorization","value":"Bearer ${T}"}]',
                page,
            ),
            (
                "host.http_post('https://a.b', 'x', [('A', '1'), ('A', '2')])",
                "http.post",
                '"url":"https://a.b","headers":[{"name":"A","value":"1"},'
                '{"name":"A","value":"2"}],"body":"x"',
                page,
            ),
            (
                "host.run('cargo', ['check'], ['TERM'])",
                "process.run",
                '"program":"cargo","args":["check"],"envs":["TERM"]',
                {"stdout": "", "stderr": "", "exit_code": 0},
            ),
        ]
        for call, method, params, answer in cases:
            with self.subTest(call):
                self.check(call, request(method, params), answer)

    def test_final_messages(self) -> None:
        """V-025, V-028, V-029, S-020: results, errors and states."""
        head = '{"jsonrpc":"2.0","method":'
        cases = [
            ("host.result('Done.')", '"result","params":{"content":"Done."}}'),
            (
                "host.result([vfs.Text('a')])",
                '"result","params":{"content":[{"type":"text","text":"a"}]}}',
            ),
            ("host.result()", '"result","params":{"content":""}}'),
            (
                "host.error('why', ['cause'], True)",
                '"error","params":{"message":"why","trace":["cause"],"transient":true}}',
            ),
            (
                "host.state('stopped', result='Staged.')",
                '"state","params":{"type":"stopped","result":"Staged."}}',
            ),
            (
                "host.state('stopped', 'shown', error='why')",
                '"state","params":{"type":"stopped","content":"shown","error":'
                '{"message":"why","trace":[],"transient":false}}}',
            ),
        ]
        for call, expected in cases:
            with self.subTest(call):
                host = Host(tool(call + "\n")).run()
                self.assertEqual([line.decode() for line in host.lines], [head + expected + "\n"])


class Files(unittest.TestCase):
    """The same tools give the same results with the plain protocol and with everything agreed."""

    files = {
        "src/main.rs": b"fn main() {\n    todo()\n}\n",
        "src/lib.rs": b"// TODO: write\n",
        "src/cmd/run.rs": b"",
        "logo.png": BINARY,
        "windows.txt": b"a\r\nb\r\n",
    }

    def check(self, body: str, expected: Any) -> List[Host]:
        hosts = []
        for init in ({}, ALL):
            with self.subTest(init=init):
                host = Host(tool(body), files=self.files, init=init).run()
                self.assertEqual(json.loads(host.result), expected)
                hosts.append(host)
        return hosts

    def test_read(self) -> None:
        self.check("return [host.read('src/lib.rs')]", ["// TODO: write\n"])
        self.check("return [host.read('windows.txt')]", ["a\r\nb\r\n"])
        self.check("return [host.read_bytes('logo.png') == bytes(range(256))]", [True])
        self.check(
            "return [host.read('logo.png', 'latin-1') == bytes(range(256)).decode('latin-1')]",
            [True],
        )
        self.check("return [host.read_file('logo.png').size]", [256])
        self.check("return [host.read('src/cmd/run.rs')]", [""])

    def test_read_text_of_bytes(self) -> None:
        body = """
            try:
                host.read('logo.png')
            except UnicodeDecodeError:
                return [True]
        """
        self.check(body, [True])

    def test_read_range(self) -> None:
        self.check("return list(host.read_range('logo.png', 10, 3).data)", [10, 11, 12])
        self.check("return list(host.read_range('logo.png', 254).data)", [254, 255])
        self.check("return list(host.read_range('logo.png', 254, 9).data)", [254, 255])
        self.check("return list(host.read_range('logo.png', 999, 9).data)", [])
        self.check("return [host.read_range('src/lib.rs', 3, 4).text]", ["TODO"])

    def test_write(self) -> None:
        body = """
            host.write('new/a.txt', 'grün\\n')
            host.write_bytes('new/b.bin', b'\\x00\\xff')
            host.write_bytes('new/c.txt', 'grün'.encode())
            host.append('new/a.txt', 'more')
            host.append('new/b.bin', b'\\xfe')
            host.mkdir('new/d')
            return [True]
        """
        for host in self.check(body, [True]):
            self.assertEqual(host.files["new/a.txt"], "grün\nmore".encode())
            self.assertEqual(host.files["new/b.bin"], b"\x00\xff\xfe")
            self.assertEqual(host.files["new/c.txt"], "grün".encode())
            self.assertEqual(host.made_dirs, ["new/d"])

    def test_large_content(self) -> None:
        """What is large goes both ways, and through a pipe that is smaller."""
        body = """
            text = 'grün\\n' * 100_000
            data = bytes(range(256)) * 4_000
            host.write('text', text)
            host.write_bytes('data', data)
            host.append('data', data)
            return [host.read('text') == text, host.read_bytes('data') == data + data]
        """
        plain, agreed = self.check(body, [True, True])
        self.assertFalse(any("raw" in request for request in plain.requests))
        self.assertEqual(sum("raw" in request for request in agreed.requests), 3)

    def test_patch(self) -> None:
        body = """
            host.patch('src/main.rs', [('todo()', 'run()'), vfs.Edit('n', 'N', all=True)])
            return [host.read('src/main.rs')]
        """
        self.check(body, ["fN maiN() {\n    ruN()\n}\n"])

    def test_exists_metadata(self) -> None:
        self.check("return [host.exists('src'), host.exists('nope')]", [True, False])
        body = """
            file, folder = host.metadata('logo.png'), host.metadata('src')
            return [file.kind, file.size, file.is_file, folder.kind, folder.is_dir]
        """
        self.check(body, ["file", 256, True, "dir", True])

    def test_list_dir(self) -> None:
        """V-053, V-054, and the pages of the additions."""
        body = "return [[entry.path, entry.kind] for entry in host.list_dir('src')]"
        self.check(body, [["cmd", "dir"], ["lib.rs", "file"], ["main.rs", "file"]])
        many = {f"{number:02}": b"" for number in range(10)}
        host = Host(tool("return len(host.list_dir())"), files=many, init=ALL).run()
        self.assertEqual(host.result, "10")
        self.assertEqual(
            [one.get("cursor") for one in host.asked("fs.list_dir")], [None, "3", "6", "9"]
        )

    def test_delete_rename(self) -> None:
        body = """
            host.delete('logo.png')
            host.delete('src/cmd', recursive=True)
            host.rename('src/lib.rs', 'src/new.rs')
            return [True]
        """
        for host in self.check(body, [True]):
            self.assertEqual(sorted(host.files), ["src/main.rs", "src/new.rs", "windows.txt"])

    def test_grep(self) -> None:
        body = """
            found = host.grep('TODO', ['src'], ['rs'], context=1, ignore_case=True)
            return [[one.path, [[line.line_number, line.is_match] for line in one.lines]]
                    for one in found.matches]
        """
        expected = [
            ["src/lib.rs", [[1, True]]],
            ["src/main.rs", [[1, False], [2, True], [3, False]]],
        ]
        self.check(body, expected)

    def test_versions(self) -> None:
        """`if_match` guards a change (kind `stale`); without `etag` it is refused before it is
        sent, because the host would ignore it."""
        body = """
            old = host.read_file('src/lib.rs')
            done = host.write('src/lib.rs', 'one', if_match=old.etag)
            host.append('src/lib.rs', ' two', if_match=done.etag)
            host.patch('src/lib.rs', [('two', 'three')], if_match=host.metadata('src/lib.rs').etag)
            seen = []
            for change in (
                lambda: host.write('src/lib.rs', 'lost', if_match=old.etag),
                lambda: host.append('src/lib.rs', 'lost', if_match=old.etag),
                lambda: host.patch('src/lib.rs', [('one', '')], if_match=old.etag),
                lambda: host.delete('src/lib.rs', if_match=old.etag),
            ):
                try:
                    change()
                except vfs.Stale as error:
                    seen.append([error.kind, error.path])
            return seen
        """
        host = Host(tool(body), files=self.files, init=ALL).run()
        self.assertEqual(json.loads(host.result), [["stale", "src/lib.rs"]] * 4)
        self.assertEqual(host.files["src/lib.rs"], b"one three")
        host = Host(tool("host.write('a', 'b', if_match='x')")).run()
        self.assertIn("does not offer `etag`", host.error["message"])
        self.assertEqual(host.requests, [])

    def test_paths(self) -> None:
        """X-11: an inner `..` and the root itself never reach the host; what leaves does."""
        cases = [
            ("'a/../b'", "b"),
            ("'./src//a/../b/'", "src/b"),
            ("'a/..'", "."),
            ("'../x'", "../x"),
            ("'a/../../x'", "a/../../x"),
            ("'/etc/passwd'", "/etc/passwd"),
            ("'/w/src/a'", "src/a"),
            ("'/w'", "."),
            ("'/w/'", "."),
            ("'/w/../etc'", "/w/../etc"),
            ("'/ww/a'", "/ww/a"),
            ("pathlib.PurePosixPath('src/../a')", "a"),
            ("''", ""),
        ]
        paths = ", ".join(path for path, _ in cases)
        body = f"""
            import pathlib
            for path in [{paths}]:
                try:
                    host.exists(path)
                except vfs.AccessDenied as error:
                    assert error.kind == 'escape' and error.path, error
        """
        context = {"root": "/w", "action": "run"}
        host = Host(tool(body), init={"context": context}).run()
        self.assertEqual(host.result, "")
        self.assertEqual(
            [one["path"] for one in host.asked("fs.exists")], [sent for _, sent in cases]
        )
        host = Host(tool("host.rename('a/../b', 'c/./d')"), files={"b": b""}).run()
        self.assertEqual(host.asked("fs.rename"), [{"from": "b", "to": "c/d"}])
        host = Host(tool("host.grep('x', ['a/../b'])")).run()
        self.assertEqual(host.asked("fs.grep"), [{"pattern": "x", "paths": ["b"]}])


class Parts(unittest.TestCase):
    """Large files in ranges (X-24)."""

    data = BINARY * 40_000  # 10 MB and more than two parts.
    body = "import hashlib; return hashlib.sha256(host.read_bytes('big')).hexdigest()"

    def test_whole_file_in_parts(self) -> None:
        import hashlib

        expected = hashlib.sha256(self.data).hexdigest()
        for names in (["ranges"], ["ranges", "etag"], ["ranges", "etag", "blobs"]):
            with self.subTest(names):
                init: JsonObject = {"capabilities": {name: {} for name in names}}
                host = Host(tool(self.body), files={"big": self.data}, init=init).run()
                self.assertEqual(host.result, expected)
                self.assertEqual(len(host.asked("fs.read")), 3)

    def test_plain_host_has_no_parts(self) -> None:
        host = Host(tool(self.body), files={"big": self.data}).run()
        self.assertEqual(host.asked("fs.read"), [{"path": "big"}])
        self.assertIn("kind: too_large", host.error["trace"])

    def test_part_that_grows_in_its_line(self) -> None:
        """The host counts the bytes of the line: a part that is too long is asked for in less."""

        def on_request(host: Host, request: JsonObject) -> bool:
            if request["params"]["length"] <= 50_000:
                return False
            error = {"code": -32006, "message": "too long", "data": {"kind": "too_large"}}
            host.send({"id": request["id"], "error": error})
            return True

        data = b"\x00" * 300_000
        init: JsonObject = {"capabilities": {"ranges": {}}}
        body = "return len(host.read_bytes('big'))"
        host = Host(tool(body), files={"big": data}, init=init, on_request=on_request).run()
        self.assertEqual(host.result, "300000")

    def test_file_that_changes_while_it_is_read(self) -> None:
        init = {"capabilities": {"ranges": {}, "etag": {}}, "limits": {"file_bytes": 10}}

        def changing(times: int) -> Host:
            def on_request(host: Host, request: JsonObject) -> bool:
                if request["params"]["offset"] > 0 and len(changes) < times:
                    changes.append(True)
                    host.files["big"] = b"%020d" % len(changes)
                return False

            changes: List[bool] = []
            body = "return host.read('big')"
            files = {"big": b"x" * 20}
            return Host(tool(body), files=files, init=init, on_request=on_request).run()

        self.assertEqual(changing(2).result, "%020d" % 2)
        self.assertIn("changed while it was read", changing(99).error["message"])

    def test_read_range_over_several_parts(self) -> None:
        init = {"capabilities": {"ranges": {}}, "limits": {"file_bytes": 10}}
        body = "return host.read_range('big', 5, 25).text"
        host = Host(tool(body), files={"big": b"0123456789" * 4}, init=init).run()
        self.assertEqual(host.result, "5678901234567890123456789")


class Others(unittest.TestCase):
    def answer(self, body: str, result: JsonObject, blob: bytes = b"", **more: Any) -> Host:
        def on_request(host: Host, request: JsonObject) -> bool:
            extra = {"blob": len(blob)} if blob else {}
            host.send({"id": request["id"], "result": result, **extra}, blob)
            return True

        return Host(tool(body), on_request=on_request, **more).run()

    def test_http(self) -> None:
        body = (
            "reply = host.http_get('https://a.b'); return [reply.status, reply.text, reply.json()]"
        )
        host = self.answer(body, {"status": 404, "body": '{"id": 1}'})
        self.assertEqual(json.loads(host.result), [404, '{"id": 1}', {"id": 1}])
        body = "return list(host.http_get('https://a.b').body)"
        host = self.answer(body, {"status": 200, "body": "/w==", "encoding": "base64"})
        self.assertEqual(json.loads(host.result), [255])
        host = self.answer(body, {"status": 200}, blob=b"\n\xff", init=ALL)
        self.assertEqual(json.loads(host.result), [10, 255])

    def test_http_post_of_bytes(self) -> None:
        host = self.answer("host.http_post('https://a.b', b'\\xff')", {"status": 201, "body": ""})
        params = {"url": "https://a.b", "headers": [], "body": "/w==", "encoding": "base64"}
        self.assertEqual(host.asked("http.post"), [params])

    def test_run(self) -> None:
        body = """
            reply = host.run('git', ['status'])
            return [reply.stdout, reply.stderr, reply.exit_code, reply.truncated]
        """
        host = self.answer(body, {"stdout": "a", "stderr": "b", "exit_code": 3, "truncated": True})
        self.assertEqual(json.loads(host.result), ["a", "b", 3, True])

    def test_one_text_is_not_a_list(self) -> None:
        host = self.answer("host.run('git', 'status')", {})
        self.assertIn("`args` must be a list", host.error["message"])
        self.assertEqual(host.requests, [])

    def test_answers_that_are_malformed(self) -> None:
        cases: List[Tuple[str, JsonObject, str]] = [
            ("host.read('a')", {}, "`content` must be a string"),
            ("host.read('a')", {"content": "%", "encoding": "base64"}, "`content` must be UTF-8"),
            ("host.read('a')", {"content": "", "encoding": "hex"}, "`encoding` must be `base64`"),
            ("host.read('a')", {"content": "", "size": "1"}, "`size` must be an integer"),
            ("host.exists('a')", {"exists": 1}, "`exists` must be `true` or `false`"),
            ("host.list_dir('a')", {"entries": {}}, "`entries` must be a list"),
            ("host.list_dir('a')", {"entries": [1]}, "must be an object"),
            ("host.grep('a')", {"matches": [{"lines": []}]}, "`path` must be a string"),
        ]
        for call, result, expected in cases:
            with self.subTest(call, result=result):
                host = self.answer(call, result)
                self.assertIn(expected, host.error["message"])
                self.assertIn("kind: protocol", host.error["trace"])


if __name__ == "__main__":
    unittest.main()
