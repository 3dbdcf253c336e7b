"""The MCP Inspector's command line, in strict mode, against `jig mcp`: it lists everything and calls every
tool, in both eras, over both transports, and finds nothing wrong."""

from __future__ import annotations

import json
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import node
from serving import JIG, PATIENCE, Workspace, http

CONFIG = """
[tools.fs_create_file]
run = "unattended"
[tools.fs_modify_file]
run = "unattended"
questions.apply_changes.answer = true
[tools.fs_delete_file]
run = "unattended"
[tools.fs_move_file]
run = "unattended"
[tools.git]
run = "unattended"
[tools.shell]
run = "unattended"

[tools.word_count]
source = "local"
command = "wc -w {{tool.arguments.path}}"
run = "unattended"
title = "Count words"
description = "Counts the words of a file."
[tools.word_count.parameters.path]
type = "string"
required = true
description = "The file, relative to the workspace."

[tools.measure]
source = "local"
command = "sh measure.sh"
run = "unattended"
description = "Returns a size."
[tools.measure.output]
type = "object"
properties.size.type = "integer"
required = ["size"]

[tools.build]
source = "local"
command = "echo built"
run = "unattended"
stateful = ["spawn", "fetch", "abort"]
description = "Builds something."

[kb.topic.style]
title = "House style"
introduction = "How we write here."
subjects = "docs"
"""

FILES = {
    "jig.toml": CONFIG,
    "measure.sh": "echo '{\"size\": 3}'\n",
    "notes.txt": "remember the milk\n",
    "modified.txt": "one\n",
    "deleted.txt": "gone soon\n",
    "moved.txt": "elsewhere soon\n",
    "docs/naming.md": "Names say what a thing is.\n",
}

# One call of every tool that is listed.
CALLS: dict[str, dict[str, Any]] = {
    "await": {"ids": [], "timeout_ms": 0},
    "build": {},
    "fs_create_file": {"path": "created.txt", "content": "new\n"},
    "fs_delete_file": {"path": "deleted.txt"},
    "fs_grep_files": {"pattern": "milk"},
    "fs_list_files": {},
    "fs_modify_file": {"path": "modified.txt", "patterns": [{"old": "one", "new": "two"}]},
    "fs_move_file": {"from": "moved.txt", "to": "there.txt"},
    "fs_read_file": {"path": "notes.txt"},
    "git": {"command": "log"},
    "learn": {"topic": "style"},
    "measure": {},
    "shell": {"command": "echo from a shell"},
    "word_count": {"path": "notes.txt"},
}

TOKEN = "a-token-for-one-test-and-no-other"


class Inspector:
    """The program, with a server to talk to."""

    era: str
    transport: str

    def setUp(self: Any) -> None:
        self.workspace = Workspace(FILES)
        self.addCleanup(self.workspace.close)
        git = ["git", "-C", str(self.workspace.root), "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
            subprocess.run([*git, *words], check=True, env=self.workspace.environment())
        stack = ExitStack()
        self.addCleanup(stack.close)
        if self.transport == "stdio":
            self.target = ["--cwd", str(self.workspace.root)]
            # It passes few variables on.
            self.server = ["--", JIG, "mcp", "--trust"]
        else:
            url = stack.enter_context(http(self.workspace, token=TOKEN)).url
            self.target = ["--transport", "http", "--server-url", url]
            self.target += ["--header", f"Authorization: Bearer {TOKEN}"]
            self.server = []

    def inspect(self: Any, method: str, *arguments: str) -> Any:
        """What the server answered to one request. The program must have nothing to say about it."""
        command = [
            *node.command("inspector"),
            "--cli",
            *("--protocol-era", self.era, "--format", "json", "--method", method),
            *self.target,
            *arguments,
            *self.server,
        ]
        done = subprocess.run(
            command,
            cwd=self.workspace.root,
            env=self.workspace.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
        )
        said = f"{' '.join(command)}\n{done.stdout[:2000]}\n{done.stderr}"
        found = [sign for sign in ("portability", "warning", "error") if sign in done.stderr.lower()]
        self.assertTrue(done.returncode == 0 and not found, said)
        return json.loads(done.stdout)["result"]

    def test_every_list_and_every_tool(self: Any) -> None:
        lists = {
            "tools/list": "tools",
            "resources/list": "resources",
            "resources/templates/list": "resourceTemplates",
            "prompts/list": "prompts",
        }
        with ThreadPoolExecutor(4) as pool:
            strict = pool.submit(self.inspect, "tools/list", "--strict")
            listed = {
                method: pool.submit(self.inspect, method)
                for method in lists
                if method != "tools/list"
            }
            listed["tools/list"] = strict
            called = {
                name: pool.submit(
                    self.inspect,
                    "tools/call",
                    *("--tool-name", name, "--tool-args-json", json.dumps(arguments)),
                )
                for name, arguments in CALLS.items()
            }
            read = pool.submit(self.inspect, "resources/read", "--uri", "jig://config")
            got = pool.submit(
                self.inspect,
                "prompts/get",
                *("--prompt-name", "style", "--prompt-args", "subject=naming"),
            )
            for method, key in lists.items():
                with self.subTest(list=method):
                    self.assertTrue(listed[method].result()[key])
            tools = {tool["name"] for tool in strict.result()["tools"]}
            self.assertEqual(tools, set(CALLS), "each tool that is listed is called, and no other")
            for name, call in called.items():
                with self.subTest(tool=name):
                    result = call.result()
                    self.assertFalse(result.get("isError"), result)
                    self.assertTrue(result["content"], result)
            self.assertTrue(read.result()["contents"])
            self.assertIn("Names say", json.dumps(got.result()))
        self.assertEqual(called["measure"].result()["structuredContent"], {"size": 3})
        self.assertEqual(self.workspace.read("modified.txt"), "two\n")


for era in ("legacy", "modern"):
    for transport in ("stdio", "http"):
        name = f"Inspector{era.capitalize()}Over{transport.capitalize()}"
        globals()[name] = type(
            name, (Inspector, unittest.TestCase), {"era": era, "transport": transport, "__module__": __name__}
        )
