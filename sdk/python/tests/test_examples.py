"""The examples of the repository, as their `jig.toml` starts them."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import unittest
from pathlib import Path
from typing import List

from fake_host import Host, JsonObject

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


if __name__ == "__main__":
    unittest.main()
