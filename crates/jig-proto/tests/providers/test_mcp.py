"""What `jig mcp` lists is taken by the providers' own libraries, as it comes over the wire.

`JIG` in the environment is the program. Clients hand the `inputSchema` of a tool to a model as it is, so one
that a provider refuses makes a whole request fail.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from test_providers import NAME, PROVIDERS

# Every kind of parameter, a tool that is stateful, and one that returns structured content.
CONFIG = """
[tools.release]
source = "local"
command = "true"
stateful = true
description = "Makes a release."
[tools.release.parameters.version]
type = "string"
required = true
[tools.release.parameters.level]
enum = ["major", "minor", "patch"]
default = "patch"
[tools.release.parameters.retries]
type = ["integer", "null"]
[tools.release.parameters.notes]
type = "array"
items.type = "string"
[tools.release.parameters.target]
type = "object"
properties.host = { type = "string", required = true }
properties.port = { type = "integer" }

[tools.measure]
source = "local"
command = "true"
description = "Returns a size."
[tools.measure.output]
type = "object"
properties.size.type = "integer"
required = ["size"]
"""


def listed(config: str | None) -> list[dict[str, Any]]:
    """The tools that a server lists for a client that speaks the older protocol."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        root = base / "workspace"
        root.mkdir()
        if config is not None:
            (root / "jig.toml").write_text(config, encoding="utf-8")
        client = {"protocolVersion": "2025-11-25", "capabilities": {}}
        client["clientInfo"] = {"name": "test", "version": "1"}
        messages = [
            {"id": 1, "method": "initialize", "params": client},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
        ]
        server = subprocess.Popen(
            [os.environ["JIG"], "mcp"],
            cwd=root,
            env={"PATH": os.environ["PATH"], "HOME": str(base)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with server:
            assert server.stdin is not None and server.stdout is not None
            for message in messages:
                server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            for line in server.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    server.stdin.close()
                    return answer["result"]["tools"]
    raise AssertionError("the server has ended without an answer")


class Listed(unittest.TestCase):
    def setUp(self) -> None:
        # Gemini's library warns that it splits lists of types.
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)

    def check(self, config: str | None, expected: set[str]) -> None:
        tools = listed(config)
        names = [tool["name"] for tool in tools]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(expected, set(names))
        for tool in tools:
            self.assertRegex(tool["name"], NAME)
            self.assertLessEqual(len(tool["name"]), 64)
            for provider, take in PROVIDERS.items():
                with self.subTest(provider=provider, tool=tool["name"]):
                    take(tool["name"], tool["description"], tool["inputSchema"])

    def test_s055_a_folder_without_configuration(self) -> None:
        self.check(None, {"fs_read_file", "fs_create_file", "shell", "git"})

    def test_s055_every_kind_of_parameter_and_a_stateful_tool(self) -> None:
        self.check(CONFIG, {"fs_read_file", "release", "measure"})


if __name__ == "__main__":
    unittest.main()
