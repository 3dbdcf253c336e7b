"""The examples of the repository, as their `jig.toml` starts them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import List, Tuple

from fake_host import Host, JsonObject
from fake_proxy import Proxy

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def command_of(example: str) -> List[str]:
    """The command in the example's `jig.toml`, with its files by their absolute paths."""
    folder = EXAMPLES / example
    config = (folder / "jig.toml").read_text(encoding="utf-8")
    found = re.search(r'^command = "(.*)"$', config, re.MULTILINE)
    assert found is not None, config
    program, *arguments = shlex.split(found.group(1))
    assert all((folder / argument).exists() for argument in arguments), arguments
    program = sys.executable if program == "python3" else program
    return [program, *(str(folder / argument) for argument in arguments)]


@unittest.skipUnless(EXAMPLES.is_dir(), "the examples are not here: this is not the repository")
@unittest.skipUnless(shutil.which("sh"), "`sh` is not installed")
@unittest.skipUnless(shutil.which("jq"), "`jq` is not installed: the tool in shell needs it")
class Shell(unittest.TestCase):
    def run_tool(self, path: str, **more: object) -> Host:
        files = {"a.txt": "drei kleine\n  Wörter\t!\n".encode(), "b": b"\xff", "empty": b""}
        host = Host(command_of("vfs-shell"), files=files, arguments={"path": path}, **more)  # type: ignore
        return host.run()

    def test_words(self) -> None:
        """V-168: the protocol needs no more than lines and JSON."""
        self.assertEqual(self.run_tool("a.txt").result, "4 words in a.txt")
        self.assertEqual(self.run_tool("empty").result, "0 words in empty")

    def test_errors(self) -> None:
        self.assertEqual(self.run_tool("nope").error["message"], "`nope` does not exist")
        self.assertEqual(self.run_tool("b").error["message"], "b is not text")
        odd = 'a "b" $(c)'
        self.assertEqual(self.run_tool(odd).error["message"], f"`{odd}` does not exist")

    def test_large_file(self) -> None:
        files = {"big": b"word " * 1_000_000}
        host = Host(command_of("vfs-shell"), files=files, arguments={"path": "big"}).run()
        self.assertEqual(host.result, "1000000 words in big")

    def test_cancel(self) -> None:
        def on_request(host: Host, request: JsonObject) -> bool:
            host.send({"method": "pending", "params": {"request_id": 1, "reason": "later"}})
            host.send({"method": "cancel"})
            return True

        host = self.run_tool("a.txt", on_request=on_request)
        self.assertEqual(host.error["message"], "cancelled")


@unittest.skipUnless(EXAMPLES.is_dir(), "the examples are not here: this is not the repository")
class Python(unittest.TestCase):
    files = {
        "src/a.py": b"x = 1  # TODO: `more`\n\n# HACK\n",
        "src/b.rs": b"// TODO\n",
        "TODO.md": b"TODO: an older report\n",
    }
    report = (
        "# Left to do\n\n## src/a.py\n\n- line 1: `x = 1  # TODO: 'more'`\n- line 3: `# HACK`\n"
    )

    def run_tool(self, answer: bool, **arguments: object) -> Host:
        def on_state(host: Host, state: JsonObject) -> None:
            self.assertEqual(state["question"]["text"], "Replace TODO.md?")
            host.send({"method": "apply", "params": {"input": answer}})

        command = command_of("vfs-python")
        files = self.files
        return Host(command, files=files, arguments=dict(arguments), on_state=on_state).run()

    def test_report(self) -> None:
        host = self.run_tool(True, extensions=["py"])
        self.assertEqual(host.result, "Listed in TODO.md: 1 HACK, 1 TODO.")
        self.assertEqual(host.files["TODO.md"].decode(), self.report)

    def test_report_that_is_not_replaced(self) -> None:
        host = self.run_tool(False, extensions=["py"])
        self.assertEqual((host.result, host.files), (self.report, self.files))

    def test_new_report(self) -> None:
        host = self.run_tool(False, report="out.md", paths=["src/b.rs"])
        self.assertEqual(host.result, "Listed in out.md: 1 TODO.")
        self.assertIn(b"- line 1: `// TODO`", host.files["out.md"])

    def test_marks_of_the_call(self) -> None:
        host = self.run_tool(False, report="out.md", marks=["x.", "more"])
        self.assertEqual(host.result, "Listed in out.md: 1 more.")
        host = self.run_tool(False, marks=[])
        self.assertIn("nothing to search for", host.error["message"])

    def test_nothing(self) -> None:
        host = self.run_tool(False, paths=["nowhere"])
        self.assertEqual(host.result, "Nothing is left to do.")


@unittest.skipUnless(EXAMPLES.is_dir(), "the examples are not here: this is not the repository")
@unittest.skipUnless(hasattr(os, "fork"), "descriptors are not inherited here")
class Pipelines(unittest.TestCase):
    """The shell of `fs-proxy`: its files, its pipes and its streams are the proxy's."""

    def run_line(self, line: str, fake: Proxy) -> Tuple[int, str]:
        with fake.connect() as theirs:
            done = subprocess.run(
                [*command_of("fs-proxy"), line],
                env={"JIG_PROXY_FD": str(theirs.fileno())},
                pass_fds=[theirs.fileno()],
                stderr=subprocess.PIPE,
                universal_newlines=True,
                timeout=60,
            )
        self.assertTrue(fake.ended.wait(30))
        self.assertEqual((fake.faults, fake.open_files), ([], {}))
        return done.returncode, done.stderr

    def check(self, line: str, printed: str, **made: str) -> None:
        notes = (EXAMPLES / "fs-proxy" / "notes.txt").read_bytes()
        fake = Proxy(notes=notes)
        fake.streams[0] += b"typed in\n"
        with self.subTest(line=line):
            self.assertEqual(self.run_line(line, fake), (0, ""))
            self.assertEqual(fake.streams[1].decode(), printed)
            for name, content in made.items():
                self.assertEqual(fake.files[name].decode(), content)

    def test_pipelines(self) -> None:
        self.check("wc", "1 lines, 2 words\n")
        self.check("grep order notes | wc", "2 lines, 9 words\n")
        self.check("grep TODO notes | sort | head 1", "TODO call the roofer about the gutter\n")
        self.check("grep door notes > found", "", found="painted the door\n")
        self.check("cat notes notes | grep 'bought paint' | uniq", "2 bought paint\n")

    def test_llm(self) -> None:
        self.check("grep TODO notes | llm 'What first?'", "An answer.\n")
        self.check("llm 'What first?' notes > found", "", found="An answer.\n")
        self.check("llm 'What is this?'", "An answer.\n")

    def test_mistakes(self) -> None:
        for line, expected in (
            ("cat missing", "pipe: `missing` does not exist\n"),
            ("cat denied | wc", "pipe: r on `denied` is denied by a rule\n"),
            ("wc |", "pipe: a stage of the pipeline is empty\n"),
            ("wc > a b", "pipe: `>` and a file are the end of a line\n"),
            ("grep", "pipe: grep: missing a required argument: 'pattern'\n"),
            ("head x", "pipe: invalid literal for int() with base 10: 'x'\n"),
            ("rm x", "pipe: no command 'rm'; there are cat, grep, head, llm, sort, uniq, wc\n"),
        ):
            with self.subTest(line=line):
                self.assertEqual(self.run_line(line, Proxy()), (1, expected))


if __name__ == "__main__":
    unittest.main()
