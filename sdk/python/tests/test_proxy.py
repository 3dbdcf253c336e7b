"""The client of the FS proxy: files, streams and LLM calls against a proxy in memory."""

from __future__ import annotations

import csv
import gc
import io
import json
import os
import shutil
import time
import unittest
import zipfile
from pathlib import Path
from typing import Any, Callable, List, Optional, Tuple, Type

from fake_proxy import JsonObject, Proxy, Refusal

from jig_tool import proxy

BIG = os.urandom(1_000_003)


def until(is_true: Callable[[], bool], what: str) -> None:
    """Waits for a condition, for as long as a loaded machine may need."""
    end = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < end, what
        time.sleep(0.005)


class ProxyTest(unittest.TestCase):
    def setUp(self) -> None:
        self.proxy = Proxy(
            text="grün\nblau\r\nrot".encode(),
            table=b"a,b\n1,2\n3,4\n",
            object=b'{"a": [1, 2]}',
            big=BIG,
            empty=b"",
        )
        self.client = proxy.connect(self.proxy.connect())

    def tearDown(self) -> None:
        self.client.close()
        until(self.proxy.ended.is_set, "the proxy still serves")
        self.assertEqual(self.proxy.faults, [])

    def refused(self, kind: Type[BaseException], code: str, do: Callable[[], object]) -> Any:
        with self.assertRaises(kind) as caught:
            do()
        error = caught.exception
        self.assertIsInstance(error, proxy.ProxyError)
        self.assertEqual(getattr(error, "code", None), code)
        return error


class Files(ProxyTest):
    def test_list_dir(self) -> None:
        names = [entry.name for entry in self.client.list_dir()]
        self.assertEqual(names, sorted(self.proxy.files))
        self.refused(proxy.NotFound, "E_NOENT", lambda: self.client.list_dir("none"))

    def test_text(self) -> None:
        with self.client.open("text") as file:
            self.assertEqual(list(file), ["grün\n", "blau\n", "rot"])
        with self.client.open("text", newline="") as file:
            self.assertEqual(file.readlines(), ["grün\n", "blau\r\n", "rot"])
        with self.client.open(Path("text"), "rt", encoding="latin-1") as file:
            self.assertEqual(file.readline(), "grÃ¼n\n")
        with self.client.open("new", "w", newline="\r\n") as file:
            print("eins", "zwei", file=file)
        self.assertEqual(self.proxy.files["new"], b"eins zwei\r\n")
        self.assertEqual(self.proxy.open_files, {})

    def test_code_that_knows_nothing_of_proxies(self) -> None:
        with self.client.open("object") as file:
            self.assertEqual(json.load(file), {"a": [1, 2]})
        with self.client.open("object", "w") as file:
            json.dump([1, {"b": None}], file)
        self.assertEqual(self.proxy.files["object"], b'[1, {"b": null}]')
        with self.client.open("table", newline="") as file:
            self.assertEqual([row["b"] for row in csv.DictReader(file)], ["2", "4"])
        with self.client.open("big", "rb") as one, self.client.open("copy", "wb") as other:
            shutil.copyfileobj(one, other)
        self.assertEqual(self.proxy.files["copy"], BIG)
        with zipfile.ZipFile(self.client.open("archive.zip", "wb"), "w") as archive:
            archive.writestr("a/b.txt", "in the archive")
            assert archive.fp is not None
            archive.fp.flush()
        with zipfile.ZipFile(self.client.open("archive.zip", "rb")) as archive:
            self.assertEqual(archive.read("a/b.txt"), b"in the archive")

    def test_bytes(self) -> None:
        sizes = (0, 1, 4095, 4096, 4097, 8192, 131_072, 131_073, 700_000)
        for size in sizes:
            with self.subTest(size=size):
                self.client.write_bytes("file", BIG[:size])
                self.assertEqual(self.proxy.files["file"], BIG[:size])
                self.assertEqual(self.client.read_bytes("file"), BIG[:size])
                with self.client.open("file", "rb") as file:
                    parts = iter(lambda: file.read(1000), b"")
                    self.assertEqual(b"".join(parts), BIG[:size])
        self.assertEqual(self.proxy.open_files, {})

    def test_append_and_helpers(self) -> None:
        self.client.write("log", "eins\n")
        self.client.append("log", "zwei\n")
        self.client.append("log", b"drei\n")
        self.assertEqual(self.client.read("log"), "eins\nzwei\ndrei\n")
        with self.client.open("log", "ab") as file:
            self.assertFalse(file.readable() or file.seekable())
            with self.assertRaises(io.UnsupportedOperation):
                file.read()

    def test_update(self) -> None:
        """`r+` and `rw` on one offset, with reads, writes and seeks in any order."""
        self.proxy.files["file"] = b"0123456789"
        for mode in ("r+b", "rwb"):
            with self.subTest(mode=mode), self.client.open("file", mode) as file:
                self.assertEqual(file.read(3), b"012")
                file.write(b"ABC")
                self.assertEqual(file.read(2), b"67")
                file.seek(0)
                file.write(b"x")
                file.seek(0, io.SEEK_END)
                file.write(b"!")
                file.seek(-2, io.SEEK_CUR)
                self.assertEqual((file.read(), file.tell()), (b"9!", 11))
            self.assertEqual(self.proxy.files["file"], b"x12ABC6789!")
            self.assertEqual(self.proxy.open_files, {})
            self.proxy.files["file"] = b"0123456789"
        with self.client.open("file", "r+") as text:
            content = text.read()
            text.seek(0)
            text.write(content.replace("0", "zero"))
        self.assertEqual(self.proxy.files["file"], b"zero123456789")
        with self.client.open("file", "w+") as text:
            self.assertEqual((self.proxy.files["file"], text.read()), (b"", ""))
            text.write("new")
            text.seek(0)
            self.assertEqual(text.read(), "new")

    def test_update_of_a_file_that_is_missing(self) -> None:
        """Python's `r+` never makes a file; the protocol's `rw` does (F-036)."""
        error = self.refused(FileNotFoundError, "E_NOENT", lambda: self.client.open("no", "r+"))
        self.assertEqual((error.filename, error.errno), ("no", 2))
        self.assertNotIn("no", self.proxy.files)
        self.client.open("no", "rw").close()
        self.assertEqual(self.proxy.files["no"], b"")

    def test_seek(self) -> None:
        with self.client.open("big", "rb") as file:
            for start, whence, expected in (
                (500_000, 0, 500_000),
                (10, 0, 10),
                (-100, 2, len(BIG) - 100),
                (-300_000, 1, len(BIG) - 300_100),
                (20, 1, len(BIG) - 300_080),
            ):
                self.assertEqual(file.seek(start, whence), expected)
                at = file.tell()
                self.assertEqual(file.read(100), BIG[at : at + 100])
                file.seek(at)
            file.seek(len(BIG) + 5)
            self.assertEqual(file.read(), b"")
            with self.assertRaises(ValueError):
                file.seek(-1)
        with self.client.open("text", "w") as writer, self.assertRaises(io.UnsupportedOperation):
            writer.seek(0)
        self.assertEqual(self.proxy.open_files, {})

    def test_modes(self) -> None:
        cases: Tuple[Tuple[str, int], ...] = (
            ("", -1),
            ("x", -1),
            ("a+", -1),
            ("rwa", -1),
            ("rw+", -1),
            ("rbt", -1),
            ("q", -1),
            ("r", 0),
        )
        for mode, buffering in cases:
            with self.subTest(mode=mode), self.assertRaises(ValueError):
                self.client.open("text", mode, buffering)
        self.assertEqual(self.proxy.requests, [])
        with self.assertRaises(TypeError):
            self.client.open(b"text")  # type: ignore[arg-type]

    def test_unbuffered(self) -> None:
        with self.client.open("text", "rb", 0) as file:
            assert isinstance(file, proxy.RawFile)
            self.assertEqual(file.read(3), b"gr\xc3")
            self.assertEqual(self.proxy.asked("read"), [{"h": file.handle, "max": 3}])
        with self.client.open("file", "wb", 0) as file:
            file.write(b"now")
            self.assertEqual(self.proxy.files["file"], b"now")
        self.assertIn("closed", repr(file))
        with self.assertRaises(ValueError):
            file.write(b"late")

    def test_small_files_take_few_requests(self) -> None:
        self.client.read("text")
        with self.client.open("text") as file:
            file.read()
        self.assertEqual([len(self.proxy.asked(op)) for op in ("open", "close")], [2, 2])
        self.assertLessEqual(len(self.proxy.asked("read")), 4)

    def test_large_files_are_read_and_written_ahead(self) -> None:
        """F-006: several chunks are under way at once, and no chunk is over the limit (F-025)."""
        self.client.read_bytes("big")
        # The proxy may find the requests one by one, but never waits for the next of a batch.
        self.assertGreaterEqual(self.proxy.most_in_flight, 2)
        self.assertLessEqual(len(self.proxy.asked("read")), len(BIG) // 4096 + 40)
        self.client.write_bytes("copy", BIG)
        self.assertLessEqual(len(self.proxy.asked("write")), 20)

    def test_a_file_that_grows(self) -> None:
        self.proxy.files["log"] = b"one\n"
        with self.client.open("log") as file:
            self.assertEqual(file.read(), "one\n")
            self.assertEqual(file.read(), "")
            self.proxy.files["log"] += b"two\n"
            self.assertEqual(file.read(), "two\n")

    def test_forgotten_files(self) -> None:
        """What is not referred to any more is written out and closed, also out of a cycle.

        In a cycle, what is still in a buffer is lost, as it is with Python's own files.
        """
        self.client.open("a", "w").write("in the buffer")
        cycle: List[Any] = [self.client.open("b", "w")]
        cycle.append(cycle)
        del cycle
        gc.collect()
        self.assertEqual(self.client.read("a"), "in the buffer")
        self.assertEqual(self.proxy.open_files, {})

    def test_a_finalizer_in_the_middle_of_a_request(self) -> None:
        """The collector can run anywhere: a file that it closes there must not get in between."""
        file = self.client.open("a", "rb", 0)
        raw = file.raw if hasattr(file, "raw") else file
        connection = raw._connection  # type: ignore[union-attr]
        written = connection._write

        def write(data: bytes) -> None:
            connection._write = written
            raw.close()
            written(data)

        connection._write = write
        self.assertEqual(self.client.read("empty"), "")
        self.assertTrue(raw.closed)
        self.client.read("empty")
        self.assertEqual(self.proxy.open_files, {})

    def setUp(self) -> None:
        super().setUp()
        self.proxy.files["a"] = b""


class Errors(ProxyTest):
    def test_codes(self) -> None:
        """F-024: each code is an exception of its own, and one of Python's where it has one."""
        cases: Tuple[Tuple[str, Type[BaseException], Type[BaseException]], ...] = (
            ("E_ARG", proxy.InvalidArgument, OSError),
            ("E_NOENT", proxy.NotFound, FileNotFoundError),
            ("E_PERM", proxy.AccessDenied, PermissionError),
            ("E_IO", proxy.Failed, OSError),
            ("E_CLOSED", proxy.HandleClosed, OSError),
            ("E_UNSUPPORTED", proxy.Unsupported, OSError),
            ("E_RANGE", proxy.LimitExceeded, OSError),
            ("E_NEW", proxy.ProxyError, OSError),
        )
        for code, kind, python_kind in cases:
            with self.subTest(code=code):

                def refuse(request: JsonObject, code: str = code) -> Optional[JsonObject]:
                    raise Refusal(code, f"because of {code}")

                self.proxy.on_request = refuse
                error = self.refused(kind, code, lambda: self.client.open("text"))
                self.assertIsInstance(error, python_kind)
                self.assertEqual((str(error), error.filename), (f"because of {code}", "text"))
                self.assertIsNotNone(error.errno)
        self.proxy.on_request = None

    def test_denied(self) -> None:
        error = self.refused(PermissionError, "E_PERM", lambda: self.client.open("denied", "w"))
        self.assertEqual(str(error), "w on `denied` is denied by a rule")
        self.assertIn("E_PERM", repr(error))

    def test_a_read_that_fails_in_the_middle(self) -> None:
        """What came before the error is given out; nothing behind it ever is."""
        reads: List[int] = []

        def fail_fourth(request: JsonObject) -> Optional[JsonObject]:
            if request["op"] == "read":
                reads.append(1)
                if len(reads) == 4:
                    raise Refusal("E_IO", "the disk is gone")
            return None

        self.proxy.on_request = fail_fourth
        with self.client.open("big", "rb", 0) as file:
            found = b""
            for _ in range(2):
                found += file.read(100_000)
            self.assertEqual(found, BIG[: 3 * 4096])
            for _ in range(2):
                self.refused(proxy.Failed, "E_IO", lambda: file.read(1))

    def test_a_write_that_fails(self) -> None:
        def fail(request: JsonObject) -> Optional[JsonObject]:
            if request["op"] == "write":
                raise Refusal("E_IO", "no space")
            return None

        self.proxy.on_request = fail
        file = self.client.open("out", "wb")
        file.write(b"x")
        self.refused(proxy.Failed, "E_IO", file.close)
        self.proxy.on_request = None
        self.assertTrue(file.closed)
        self.client.read("empty")
        self.assertEqual(self.proxy.open_files, {})

    def test_a_write_of_a_part(self) -> None:
        self.proxy.on_request = lambda one: {"written": 1} if one["op"] == "write" else None
        with self.client.open("out", "wb", 0) as file, self.assertRaises(proxy.Failed):
            file.write(b"xyz")

    def test_a_path_too_long_for_a_message(self) -> None:
        with self.assertRaises(proxy.LimitExceeded):
            self.client.open("x" * (1 << 20))
        self.assertEqual(self.client.read("empty"), "")


class Streams(ProxyTest):
    def test_standard_streams(self) -> None:
        self.proxy.streams[0] += "erste\nzweite Zeile\n".encode() + b"x" * 10_000
        print("hinaus", file=self.client.stdout)
        self.assertEqual(self.proxy.streams[1], b"hinaus\n")
        self.client.stderr.write("Fehler\n")
        self.assertEqual(self.proxy.streams[2], b"Fehler\n")
        self.assertEqual(self.client.stdin.readline(), "erste\n")
        # One request at a time: a second one would wait for input that nobody asked for.
        self.assertEqual(self.proxy.asked("read"), [{"h": 0, "max": 4096}])
        self.assertEqual(self.client.stdin.readline(), "zweite Zeile\n")
        self.assertEqual(len(self.client.stdin.read()), 10_000)
        self.assertEqual(self.client.stdin.read(), "")
        self.assertTrue(all(one["max"] == 4096 for one in self.proxy.asked("read")))

    def test_a_line_without_end(self) -> None:
        self.client.stdout.write("no end")
        self.assertEqual(self.proxy.streams[1], b"")
        self.client.close()
        self.assertEqual(self.proxy.streams[1], b"no end")

    def test_no_stream(self) -> None:
        """F-011: where the parent serves none, the proxy says so."""

        def refuse(request: JsonObject) -> Optional[JsonObject]:
            raise Refusal("E_PERM", "no standard streams here")

        self.proxy.on_request = refuse
        self.refused(PermissionError, "E_PERM", self.client.stdin.read)
        self.refused(PermissionError, "E_PERM", lambda: print("x", file=self.client.stderr))
        self.proxy.on_request = None
        self.client.stderr.flush()
        self.assertEqual(self.proxy.streams[2], b"x\n")


class Llm(ProxyTest):
    def test_prompt(self) -> None:
        reply = self.client.llm("Say something.", max_tokens=5, temperature=0)
        self.assertEqual((reply.content, str(reply), reply.written), ("An answer.",) * 2 + (None,))
        self.assertEqual((reply.model, reply.finish_reason), ("test-model", "stop"))
        self.assertEqual(reply.usage, proxy.Usage(5, 1, 3, 16.25))
        self.assertEqual(reply.quota.remaining, 3749.5)
        expected = {"prompt": "Say something.", "max_tokens": 5, "temperature": 0}
        self.assertEqual(self.proxy.asked("LLMCMD"), [expected])

    def test_messages_and_files(self) -> None:
        with self.client.open("text") as file:
            self.client.llm(
                messages=[("system", "Be brief."), {"role": "user", "content": "Hello."}],
                input="inline",
                files=["table", Path("object"), file],
                top_level=False,
            )
        self.assertEqual(
            self.proxy.asked("LLMCMD"),
            [
                {
                    "messages": [
                        {"role": "system", "content": "Be brief."},
                        {"role": "user", "content": "Hello."},
                    ],
                    "input": "inline",
                    "files": [3],
                    "paths": ["table", "object"],
                    "is_top_level": False,
                }
            ],
        )

    def test_answer_to_a_file(self) -> None:
        with self.client.open("out", "w") as out:
            out.write("Answer: ")
            reply = self.client.llm("Go.", stream_to=out, stderr=self.client.stderr)
            out.write("\n")
        self.assertEqual((reply.content, reply.written), (None, 10))
        self.assertEqual(self.client.read("out"), "Answer: An answer.\n")
        request = self.proxy.asked("LLMCMD")[0]
        self.assertEqual(request, {"prompt": "Go.", "stdout": 3, "stderr": 2, "stream": True})
        self.client.llm("Go.", stdout=1)
        self.assertEqual(self.proxy.streams[1], b"An answer.")
        self.assertEqual(self.proxy.asked("LLMCMD")[1], {"prompt": "Go.", "stdout": 1})

    def test_files_that_can_not_be_handed_over(self) -> None:
        with self.client.open("text") as file:
            file.readline()
            with self.assertRaises(ValueError):
                self.client.llm("Go.", files=[file])
        self.proxy.streams[0] += b"one\ntwo\n"
        self.client.stdin.readline()
        with self.assertRaises(ValueError):
            self.client.llm("Go.", files=[self.client.stdin])
        with self.assertRaises(TypeError):
            self.client.llm("Go.", files=[io.StringIO("x")])
        with self.assertRaises(ValueError):
            self.client.llm("Go.", stdout=1, stream_to=1)
        self.assertEqual(self.proxy.asked("LLMCMD"), [])

    def test_standard_input(self) -> None:
        self.proxy.streams[0] += b"one\ntwo\n"
        self.client.llm("Go.", files=[self.client.stdin])
        self.client.llm("Go.", stdin=0)
        expected = [{"prompt": "Go.", "files": [0]}, {"prompt": "Go.", "stdin": 0}]
        self.assertEqual(self.proxy.asked("LLMCMD"), expected)
        self.assertEqual(self.client.stdin.read(), "")

    def test_a_file_after_the_proxy_has_read_it(self) -> None:
        with self.client.open("table", "rb") as file:
            self.client.llm("Go.", files=[file])
            file.seek(0)
            self.assertEqual(file.read(3), b"a,b")

    def test_quota(self) -> None:
        quota = self.client.quota()
        self.assertEqual((quota.used, quota.limit, quota.calls), (1250.5, 5000, 3))
        self.assertFalse(quota.is_unlimited)
        open_end = {"used": 1, "reserved": 0, "limit": 0, "calls": 0, "input_tokens": 0}
        self.proxy.on_request = lambda _: {**open_end, "cached_tokens": 0, "output_tokens": 0}
        quota = self.client.quota()
        self.assertTrue(quota.is_unlimited)
        self.assertEqual((quota.remaining, quota.percent), (None, None))

    def test_refusals(self) -> None:
        cases: Tuple[Tuple[str, str, Type[BaseException]], ...] = (
            ("E_RANGE", "quota exceeded: cannot make LLM call", proxy.QuotaExceeded),
            ("E_RANGE", "the input is too long", proxy.LimitExceeded),
            ("E_UNSUPPORTED", "LLM not available", proxy.Unsupported),
            ("E_PERM", "LLM access denied", proxy.AccessDenied),
            ("E_IO", "OpenAI API call failed: timeout", proxy.Failed),
        )
        for code, message, kind in cases:
            with self.subTest(message=message):

                def refuse(request: JsonObject, code: str = code, text: str = message) -> None:
                    raise Refusal(code, text)

                self.proxy.on_request = refuse
                error = self.refused(kind, code, lambda: self.client.llm("Go."))
                self.assertEqual((str(error), type(error)), (message, kind))

    def test_answers_that_are_none(self) -> None:
        for result in ({"model": 1}, {"content": "x"}, {"content": 1, "model": "m"}):
            self.proxy.on_request = lambda _, result=result: result
            with self.subTest(result=result), self.assertRaises(proxy.ProtocolError):
                self.client.llm("Go.")


if __name__ == "__main__":
    unittest.main()
