"""The configuration files of three other clients, each in the form that the client documents, with servers from
npm and PyPI: imported, they are served with the tools that they had there."""

from __future__ import annotations

import json
import subprocess
from typing import Sequence

from behind import Behind, npm, pypi
from client import in_one_task


class Import(Behind):
    files = {"docs/tea.md": "Put the kettle on.\n"}

    def write_json(self, path: str, value: object) -> None:
        self.workspace.write(path, json.dumps(value))

    async def check(self, client: str, commands: dict[str, Sequence[str]]) -> None:
        """Imports what a client has, and compares with what each server says on its own."""
        self.jig("import", client, "--suggest", "--write")
        self.jig("config", "check")
        through = await self.connect()
        for name, command in commands.items():
            alone = await self.tools(await self.directly(command))
            served = await self.tools(through, "", *(f"{name}_{tool}" for tool in alone))
            of_it = {tool for tool in served if tool.startswith(f"{name}_")}
            # Some tools are offered to those who can answer questions, which only jig can here.
            self.assertLessEqual({f"{name}_{tool}" for tool in alone}, of_it)
            for tool in alone:
                self.assertEqual(served[f"{name}_{tool}"].description, alone[tool].description)

    @in_one_task
    async def test_claude(self) -> None:
        files = npm("server-filesystem", str(self.workspace.root / "docs"))
        time = pypi("mcp_server_time", "--local-timezone", "Asia/Tokyo")
        entries = {
            "files": {"type": "stdio", "command": files[0], "args": files[1:], "env": {}},
            "time": {"command": time[0], "args": time[1:]},
        }
        self.write_json(".mcp.json", {"mcpServers": entries})
        await self.check("claude", {"files": files, "time": time})

    @in_one_task
    async def test_codex(self) -> None:
        memory = npm("server-memory")
        lines = [
            "[mcp_servers.memory]",
            f"command = {json.dumps(memory[0])}",
            f"args = {json.dumps(memory[1:])}",
            "startup_timeout_sec = 50",
            "tool_timeout_sec = 40",
        ]
        config = self.workspace.home / ".codex" / "config.toml"
        config.parent.mkdir()
        config.write_text("\n".join(lines), encoding="utf-8")
        await self.check("codex", {"memory": memory})

    @in_one_task
    async def test_vscode(self) -> None:
        subprocess.run(["git", "init", "-q"], cwd=self.workspace.root, env=self.workspace.environment(), check=True)
        everything = npm("server-everything")
        git = pypi("mcp_server_git", "--repository", "${workspaceFolder}")
        entry = {"type": "stdio", "command": git[0], "args": git[1:]}
        other = {"type": "stdio", "command": everything[0], "args": everything[1:]}
        text = json.dumps({"servers": {"git": entry, "everything": other}, "inputs": []})
        self.workspace.write(".vscode/mcp.json", f"// Servers of this folder.\n{text}\n")
        alone = [*git[:-1], str(self.workspace.root)]
        await self.check("vscode", {"git": alone, "everything": everything})
