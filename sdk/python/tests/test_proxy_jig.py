"""The client of the FS proxy against the real `jig proxy`.

The program is the one that the variable `JIG` names, or else the one that was built last in the
repository. Where there is none, these tests are skipped.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Dict, List, Optional

from fake_proxy import SDK

from jig_tool import proxy

REPOSITORY = Path(__file__).resolve().parents[3]
BIG = os.urandom(3_000_001)


def jig_program() -> Optional[str]:
    """The program to test; ``None`` if there is none that knows `proxy`."""
    named = os.environ.get("JIG")
    built = [REPOSITORY / "target" / kind / "jig" for kind in ("debug", "release")]
    found = [named] if named else [str(path) for path in built if path.exists()]
    found.sort(key=os.path.getmtime)
    for program in reversed(found):
        help = subprocess.run([program, "proxy", "--help"], stdout=-3, stderr=-3)
        if help.returncode == 0:
            return program
    return None


JIG = jig_program()


class JigTest(unittest.TestCase):
    """A workspace of its own, and a jig that knows no other configuration."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve() / "workspace"
        self.root.mkdir()
        self.home = Path(folder.name).resolve() / "home"
        self.home.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "JIG_TEST_KEY": "k-123",
        }

    def write(self, path: str, content: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(content, encoding="utf-8")

    def serve(self, *options: str) -> proxy.Client:
        """A client of `jig proxy --stdio`, whose standard input and output are one socket."""
        ours, theirs = socket.socketpair()
        assert JIG is not None
        # Not `proxy`'s: it takes the number over, and closes it.
        process = subprocess.Popen(
            [JIG, "proxy", "--stdio", *options],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.PIPE,
            cwd=self.root,
            env=self.environment,
        )
        theirs.close()

        def end() -> None:
            client.close()
            try:
                _, errors = process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise
            # The end of the client is a normal end.
            self.assertEqual((process.returncode, errors), (0, b""))

        client = proxy.connect(ours)
        self.addCleanup(end)
        return client

    def run_program(
        self, body: str, *options: str, input: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """A program in Python under `jig proxy`."""
        head = f"import sys\nsys.path.insert(0, {str(SDK)!r})\nfrom jig_tool import proxy\n"
        self.write("program.py", head + textwrap.dedent(body))
        assert JIG is not None
        return subprocess.run(
            [
                *(JIG, "proxy", *options, "--code", "program.py", "--code", str(SDK), "--"),
                *(sys.executable, "program.py"),
            ],
            cwd=self.root,
            env=self.environment,
            input=input,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=120,
        )


@unittest.skipIf(JIG is None, "there is no jig program to test")
class AllowLists(JigTest):
    def test_files(self) -> None:
        """F-033 to F-036 on real files, and bytes as they are."""
        self.write("in/a.txt", "grün\n")
        (self.root / "in/big").write_bytes(BIG)
        (self.root / "out").mkdir()
        client = self.serve("-i", "in", "-o", "out", "-i", "out")
        self.assertEqual(client.read("in/a.txt"), "grün\n")
        self.assertEqual(client.read(str(self.root / "in/a.txt")), "grün\n")
        self.assertEqual(client.read_bytes("in/big"), BIG)
        client.write_bytes("out/big", BIG)
        self.assertEqual((self.root / "out/big").read_bytes(), BIG)
        client.write("out/log", "one\n")
        client.append("out/log", "two\n")
        with client.open("out/log", "r+") as file:
            self.assertEqual(file.readline(), "one\n")
            file.seek(0)
            file.write("ONE")
            file.seek(0, 2)
            file.write("three\n")
        self.assertEqual((self.root / "out/log").read_text(), "ONE\ntwo\nthree\n")
        self.assertEqual(
            [(entry.name, entry.kind) for entry in client.list_dir("in")],
            [("a.txt", "file"), ("big", "file")],
        )
        with client.open("in/big", "rb") as binary:
            binary.seek(2_000_000)
            self.assertEqual(binary.read(10), BIG[2_000_000:2_000_010])

    def test_read_only_paths_are_never_written(self) -> None:
        """X-36: a path that is only given with `-i` stays as it is, whatever the mode."""
        self.write("a.txt", "as it was")
        client = self.serve("-i", "a.txt")
        for mode in ("w", "a", "rw", "r+", "w+"):
            with self.subTest(mode=mode), self.assertRaises(PermissionError) as caught:
                client.open("a.txt", mode)
            self.assertEqual(getattr(caught.exception, "code", None), "E_PERM")
            self.assertIn("-i a.txt", str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))
        self.assertEqual((self.root / "a.txt").read_text(), "as it was")

    def test_write_only_paths_are_never_read(self) -> None:
        self.write("a.txt", "as it was")
        client = self.serve("-o", "a.txt")
        for mode in ("r", "rw", "r+", "w+"):
            with self.subTest(mode=mode), self.assertRaises(PermissionError):
                client.open("a.txt", mode)
        self.assertEqual((self.root / "a.txt").read_text(), "as it was")
        client.append("a.txt", ", and more")
        self.assertEqual((self.root / "a.txt").read_text(), "as it was, and more")

    def test_virtual_files(self) -> None:
        """X-25: what nobody named is a file of the proxy's own, and never one of the disk."""
        self.write("secret.txt", "not for you")
        self.write("a.txt", "x")
        client = self.serve("-i", "a.txt")
        with self.assertRaises(FileNotFoundError) as caught:
            client.open("secret.txt")
        self.assertEqual(caught.exception.filename, "secret.txt")
        client.write("secret.txt", "virtual")
        self.assertEqual(client.read("secret.txt"), "virtual")
        self.assertEqual((self.root / "secret.txt").read_text(), "not for you")
        client.write("/somewhere/else.txt", "elsewhere")
        self.assertEqual(client.read("/somewhere/../somewhere/else.txt"), "elsewhere")
        self.assertFalse(Path("/somewhere").exists())
        client.write_bytes("big", BIG)
        self.assertEqual(client.read_bytes("big"), BIG)

    def test_no_llm(self) -> None:
        """X-31, F-051."""
        client = self.serve()
        for ask in (client.quota, lambda: client.llm("Hello?")):
            with self.assertRaises(proxy.Unsupported) as caught:
                ask()
            self.assertEqual(str(caught.exception), "LLM not available")

    def test_handles(self) -> None:
        """F-011, F-045, F-046."""
        self.write("a.txt", "x")
        client = self.serve("-i", ".", "-o", "b.txt")
        file = client.open("a.txt", "rb", 0)
        assert isinstance(file, proxy.RawFile)
        with self.assertRaises(PermissionError):
            client._connection.call("write", {"h": file.handle, "data": "eA=="})
        file.close()
        with self.assertRaises(proxy.HandleClosed):
            client._connection.call("read", {"h": file.handle})
        with self.assertRaises(PermissionError):
            client.stdin.read()
        for params, kind in (
            ({"h": file.handle, "max": 0}, proxy.InvalidArgument),
            ({"h": file.handle, "max": 4097}, proxy.LimitExceeded),
            ({"h": -1}, proxy.InvalidArgument),
        ):
            with self.subTest(params=params), self.assertRaises(kind):
                client._connection.call("read", params)

    def test_many_threads(self) -> None:
        (self.root / "out").mkdir()
        client = self.serve("-i", "out", "-o", "out")
        failures: List[BaseException] = []

        def work(number: int) -> None:
            try:
                for turn in range(4):
                    data = BIG[number * 10_000 :][: 300_000 * (turn % 2) + 7]
                    client.write_bytes(f"out/{number}", data)
                    assert client.read_bytes(f"out/{number}") == data
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            self.assertFalse(thread.is_alive(), "a thread hangs")
        self.assertEqual(failures, [])


@unittest.skipIf(JIG is None, "there is no jig program to test")
class Policies(JigTest):
    def test_a_rule_that_denies(self) -> None:
        """F-038, X-25: a rule that says no is told, with the rule."""
        self.write("docs/a.md", "open")
        self.write("docs/private/b.md", "closed")
        self.write(
            "policy.toml",
            """
            [tools.reader]
            source = "local"
            command = "true"

            [[tools.reader.access.fs]]
            path = "docs"
            read = true

            [[tools.reader.access.fs]]
            path = "docs/private"
            read = false
            """,
        )
        client = self.serve("--root", str(self.root), "--policy", "policy.toml")
        self.assertEqual(client.read("docs/a.md"), "open")
        with self.assertRaises(PermissionError) as caught:
            client.read("docs/private/b.md")
        self.assertIn("docs/private", str(caught.exception))
        self.assertIn("rule:", str(caught.exception))


@unittest.skipIf(JIG is None, "there is no jig program to test")
class Programs(JigTest):
    def setUp(self) -> None:
        super().setUp()
        assert JIG is not None
        command = [JIG, "proxy", "--", "true"]
        tried = subprocess.run(command, cwd=self.root, env=self.environment, stderr=subprocess.PIPE)
        if tried.returncode == 125:
            self.skipTest(f"no program can be confined here: {tried.stderr.decode()}")

    def test_files_streams_and_exit_code(self) -> None:
        """F-012, F-074, F-090: descriptor 3 is the way to files, 0 to 2 are the parent's."""
        self.write("a.txt", "one\ntwo\n")
        body = """
            client = proxy.connect()
            with client.open("a.txt") as lines, client.open("b.txt", "w") as out:
                for line in lines:
                    out.write(line.upper())
            print("read:", client.stdin.readline(), end="", file=client.stdout)
            try:
                open("a.txt")
            except OSError as error:
                print(type(error).__name__, file=client.stderr)
            sys.exit(3)
        """
        done = self.run_program(body, "-i", "a.txt", "-o", "b.txt", input="from outside\n")
        self.assertEqual(done.stdout, "read: from outside\n", done.stderr)
        self.assertEqual((done.returncode, done.stderr), (3, "FileNotFoundError\n"))
        self.assertEqual((self.root / "b.txt").read_text(), "ONE\nTWO\n")

    def test_exit_without_close(self) -> None:
        """F-088: data that was written stays, also if the program is killed with files open."""
        body = """
            import os, signal
            client = proxy.connect()
            files = [client.open(f"virtual{number}", "w") for number in range(50)]
            out = client.open("b.txt", "w")
            out.write("written")
            out.flush()
            out.write("in the buffer")
            os.kill(os.getpid(), signal.SIGKILL)
        """
        done = self.run_program(body, "-o", "b.txt")
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        self.assertEqual((self.root / "b.txt").read_text(), "written")

    def test_example(self) -> None:
        """`examples/fs-proxy`, as its README says, but in a workspace of its own."""
        example = REPOSITORY / "examples" / "fs-proxy"
        if not example.is_dir():
            self.skipTest("the examples are not here: this is not the repository")
        source = (example / "pipe.py").read_text(encoding="utf-8")
        body = source.replace("from __future__ import annotations\n", "")
        self.write("notes.txt", (example / "notes.txt").read_text(encoding="utf-8"))
        line = "sys.argv[1:] = ['grep TODO notes.txt | sort | head 1 > found.txt']\n"
        done = self.run_program(line + body, "-i", "notes.txt", "-o", "found.txt")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        found = (self.root / "found.txt").read_text(encoding="utf-8")
        self.assertEqual(found, "TODO call the roofer about the gutter\n")


class Provider(HTTPServer):
    """A provider of LLMs on the loopback that says what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.asked: List[Dict[str, Any]] = []
        self.keys: List[Optional[str]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Provider)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append(body)
        server.keys.append(self.headers["Authorization"])
        usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
        if body.get("stream"):
            pieces: List[Dict[str, Any]] = [
                {"delta": {"content": text}} for text in ("In ", "short.")
            ]
            pieces.append({"delta": {}, "finish_reason": "stop"})
            events: List[Dict[str, Any]]
            events = [{"model": "m", "choices": [{"index": 0, **piece}]} for piece in pieces]
            events.append({"model": "m", "choices": [], "usage": usage})
            lines = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]
            self.reply("text/event-stream", "".join(lines).encode())
            return
        message = {"role": "assistant", "content": "In short."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"model": "m", "choices": [choice], "usage": usage}
        self.reply("application/json", json.dumps(answer).encode())

    def reply(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@unittest.skipIf(JIG is None, "there is no jig program to test")
class Llm(JigTest):
    def setUp(self) -> None:
        super().setUp()
        self.provider = Provider()
        self.addCleanup(self.provider.server_close)
        self.addCleanup(self.provider.shutdown)
        config = self.home / ".config/jig/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            f"""
            [llm]
            base_url = "{self.provider.url}"
            key_env = "JIG_TEST_KEY"
            model = "large"
            internal_model = "small"
            quota = 5000
            max_tokens = 100
            """
        )
        self.write("a.txt", "a long story\n")

    def test_answer(self) -> None:
        client = self.serve("--llm", "-i", "a.txt")
        reply = client.llm("Summarize.", files=["a.txt"])
        self.assertEqual((reply.content, reply.finish_reason), ("In short.", "stop"))
        self.assertEqual((reply.usage.input_tokens, reply.usage.output_tokens), (20, 5))
        # 20 of the input at 1.0, and 5 of the answer at 4.0.
        self.assertEqual(reply.usage.weighted, 40)
        quota = client.quota()
        self.assertEqual((quota.used, quota.limit, quota.remaining), (40, 5000, 4960))
        asked = self.provider.asked[0]
        self.assertEqual(asked["model"], "large")
        content = asked["messages"][-1]["content"]
        self.assertIn("a long story", content)
        self.assertTrue(content.endswith("Summarize."), content)
        self.assertEqual(self.provider.keys, ["Bearer k-123"])
        client.llm("Again.", top_level=False)
        self.assertEqual(self.provider.asked[1]["model"], "small")

    def test_stream_to_a_file(self) -> None:
        client = self.serve("--llm", "-i", "a.txt", "-o", "out.txt")
        with client.open("a.txt") as story, client.open("out.txt", "w") as out:
            out.write("Summary: ")
            reply = client.llm("Summarize.", files=[story], stream_to=out)
            out.write("\n")
        self.assertEqual((reply.content, reply.written), (None, 9))
        self.assertEqual((self.root / "out.txt").read_text(), "Summary: In short.\n")
        self.assertTrue(self.provider.asked[0]["stream"])
        self.assertIn("a long story", self.provider.asked[0]["messages"][-1]["content"])

    def test_quota(self) -> None:
        """Nothing is sent that the rest of the quota can't pay for."""
        client = self.serve("--llm", "--set", "llm.quota=30")
        with self.assertRaises(proxy.QuotaExceeded):
            client.llm("A prompt that alone costs more than the thirty tokens that are left.")
        self.assertEqual(self.provider.asked, [])

    def test_files_that_are_not_there(self) -> None:
        client = self.serve("--llm", "-i", "a.txt")
        with self.assertRaises(FileNotFoundError):
            client.llm("Summarize.", files=["b.txt"])
        self.assertEqual(self.provider.asked, [])


if __name__ == "__main__":
    unittest.main()
