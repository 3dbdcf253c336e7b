"""File objects (`host.open`)."""

from __future__ import annotations

import json
import unittest
from typing import Any, List

from fake_host import ALL_CAPABILITIES, Host, JsonObject, tool

PARTS = {"capabilities": ALL_CAPABILITIES, "limits": {"file_bytes": 7}}


class OpenFiles(unittest.TestCase):
    files = {
        "text": "grün\nblau\r\nrot".encode(),
        "bytes": bytes(range(256)),
        "table.csv": b"a,b\n1,2\n3,4\n",
    }

    def check(self, body: str, expected: Any) -> List[Host]:
        hosts = []
        for init in ({}, {"capabilities": ALL_CAPABILITIES}, PARTS):
            with self.subTest(init=init):
                host = Host(tool(body), files=self.files, init=init).run()
                self.assertEqual(json.loads(host.result), expected)
                hosts.append(host)
        return hosts

    def test_read(self) -> None:
        self.check("return list(host.open('text'))", ["grün\n", "blau\n", "rot"])
        body = "return host.open('text', newline='').read().splitlines(True)"
        self.check(body, ["grün\n", "blau\r\n", "rot"])
        self.check("return host.open('bytes', 'rb').read() == bytes(range(256)) and [1]", [1])
        body = """
            import csv
            with host.open('table.csv', newline='') as file:
                return list(csv.DictReader(file))
        """
        self.check(body, [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}])

    def test_seek(self) -> None:
        body = """
            with host.open('bytes', 'rb') as file:
                file.seek(200)
                middle = list(file.read(2))
                file.seek(-2, 2)
                end = list(file.read(9))
                file.seek(1)
                return [middle, end, list(file.read(1)), file.tell(), file.seekable()]
        """
        self.check(body, [[200, 201], [254, 255], [1], 2, True])

    def test_only_what_is_needed_is_read(self) -> None:
        init = {"capabilities": {"ranges": {}}, "limits": {"file_bytes": 1_000_000}}
        files = {"big": b"x" * 10_000_000}
        body = "file = host.open('big', 'rb'); file.seek(-1, 2); return len(file.read())"
        host = Host(tool(body), files=files, init=init).run()
        self.assertEqual((host.result, len(host.asked("fs.read"))), ("1", 2))

    def test_not_there(self) -> None:
        body = """
            try:
                host.open('nope')
            except FileNotFoundError as error:
                return [error.filename]
        """
        self.check(body, ["nope"])

    def test_write(self) -> None:
        """One request when the file is closed, and none before."""
        body = """
            with host.open('new', 'w') as file:
                print('one', file=file)
                file.write('grün')
                file.flush()
                assert not host.exists('new')
            with host.open('raw', 'wb') as file:
                file.write(b'\\xff')
            with host.open('text', 'a') as file:
                file.write('!')
            with host.open('empty', 'w'):
                pass
            with host.open('made', 'x') as file:
                file.write('once')
            return [1]
        """
        for host in self.check(body, [1]):
            self.assertEqual(host.files["new"], "one\ngrün".encode())
            self.assertEqual(host.files["raw"], b"\xff")
            self.assertEqual(host.files["text"], "grün\nblau\r\nrot!".encode())
            self.assertEqual((host.files["empty"], host.files["made"]), (b"", b"once"))

    def test_write_that_is_refused(self) -> None:
        body = """
            file = host.open('/etc/passwd', 'w')
            file.write('x')
            try:
                file.close()
            except PermissionError as error:
                return [error.kind, file.closed]
        """
        self.check(body, ["escape", True])

    def test_exclusive(self) -> None:
        body = """
            try:
                host.open('text', 'x')
            except FileExistsError:
                return [1]
        """
        self.check(body, [1])

    def test_update(self) -> None:
        body = """
            with host.open('table.csv', 'r+') as file:
                text = file.read()
                file.seek(0)
                file.write(text.upper())
            with host.open('bytes', 'rb+') as file:
                file.read()
            with host.open('both', 'w+b') as file:
                file.write(b'abc')
                file.seek(0)
                return [file.read().decode()]
        """
        for host in self.check(body, ["abc"]):
            self.assertEqual(host.files["table.csv"], b"A,B\n1,2\n3,4\n")
            self.assertEqual([one["path"] for one in host.asked("fs.write")], ["table.csv", "both"])

    def test_update_of_a_file_that_changed(self) -> None:
        def on_request(host: Host, request: JsonObject) -> bool:
            if request["method"] == "fs.write":
                host.files["text"] = b"somebody else"
            return False

        body = """
            with host.open('text', 'r+') as file:
                file.write('mine')
        """
        init: JsonObject = {"capabilities": {"etag": {}}}
        host = Host(tool(body), files=self.files, init=init, on_request=on_request).run()
        self.assertIn("kind: stale", host.error["trace"])
        self.assertEqual(host.files["text"], b"somebody else")

    def test_modes(self) -> None:
        body = """
            refused = []
            for mode in ['', 'rw', 'z', 'rbt', 'a+', 'r++']:
                try:
                    host.open('text', mode)
                except ValueError:
                    refused.append(mode)
            try:
                host.open('new', 'w').read()
            except OSError as error:
                refused.append(str(error))
            try:
                host.open('text').write('x')
            except OSError:
                refused.append('write')
            return refused
        """
        host = Host(tool(body), files=self.files).run()
        expected = ["", "rw", "z", "rbt", "a+", "r++", "not readable", "write"]
        self.assertEqual(json.loads(host.result), expected)

    def test_file_that_nobody_closes(self) -> None:
        """It is written when it goes, as Python's own are."""
        body = """
            host.open('dropped', 'w').write('kept')
            import gc
            gc.collect()
            return [host.read('dropped')]
        """
        self.check(body, ["kept"])


if __name__ == "__main__":
    unittest.main()
