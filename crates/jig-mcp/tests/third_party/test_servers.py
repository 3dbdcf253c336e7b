"""Six servers that people use, as they come from npm and PyPI, each confined behind `jig mcp`: the official
Python client lists their tools and calls them."""

from __future__ import annotations

import json
import os
import subprocess

from behind import Behind, changes, declared, npm, pypi, reaches, reads, site
from client import in_one_task


class Servers(Behind):
    files = {"docs/tea.md": "Put the kettle on.\n", "private/diary.md": "Dear diary.\n"}

    @in_one_task
    async def test_filesystem(self) -> None:
        # The server itself allows the whole machine: what holds it is its sandbox.
        entry = declared("files", npm("server-filesystem", "/"), reads("docs"), changes("out"))
        self.declare(entry)
        (self.workspace.root / "out").mkdir()
        client = await self.connect()
        tools = await self.tools(client, "files_")
        self.assertLessEqual({"files_read_text_file", "files_write_file", "files_list_directory"}, set(tools))

        docs = str(self.workspace.root / "docs")
        self.assertIn("[FILE] tea.md", await self.said(client, "files_list_directory", path=docs))
        self.assertIn("kettle", await self.said(client, "files_read_text_file", path=f"{docs}/tea.md"))
        out = str(self.workspace.root / "out" / "new.md")
        await self.said(client, "files_write_file", path=out, content="written\n")
        self.assertEqual(self.workspace.read("out/new.md"), "written\n")

        for path in (f"{docs}/new.md", str(self.outside / "new.md")):
            await self.refused(client, "files_write_file", path=path, content="written\n")
            self.assertFalse(os.path.exists(path), path)
        diary = str(self.workspace.root / "private" / "diary.md")
        self.assertNotIn("Dear", await self.refused(client, "files_read_text_file", path=diary))

    @in_one_task
    async def test_memory(self) -> None:
        file = str(self.workspace.root / "memory" / "graph.jsonl")
        env = f"env.MEMORY_FILE_PATH = {json.dumps(file)}"
        self.declare(declared("memory", npm("server-memory"), env, changes("memory")))
        (self.workspace.root / "memory").mkdir()
        client = await self.connect()
        self.assertIn("memory_create_entities", await self.tools(client, "memory_"))
        entity = {"name": "kettle", "entityType": "vessel", "observations": ["is blue"]}
        await self.said(client, "memory_create_entities", entities=[entity])
        self.assertIn("is blue", self.workspace.read("memory/graph.jsonl"))
        self.assertIn("vessel", await self.said(client, "memory_search_nodes", query="kettle"))
        found = await client.call_tool("memory_open_nodes", {"names": ["kettle"]})
        self.assertEqual(found.structured_content["entities"], [entity])

    @in_one_task
    async def test_git(self) -> None:
        root = self.workspace.root
        commit = ["-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-qm", "Tea"]
        for words in (["init", "-q"], ["add", "docs"], commit):
            subprocess.run(["git", *words], cwd=root, env=self.workspace.environment(), check=True)
        self.workspace.write("docs/tea.md", "Put the kettle off.\n")
        self.declare(declared("git", pypi("mcp_server_git", "--repository", str(root)), 'prefix = ""', reads(".")))
        client = await self.connect()
        tools = await self.tools(client, "", "git_status")
        self.assertLessEqual({"git_status", "git_log", "git_diff_unstaged", "git_commit"}, set(tools))
        self.assertIn("modified:   docs/tea.md", await self.said(client, "git_status", repo_path=str(root)))
        self.assertIn("kettle off", await self.said(client, "git_diff_unstaged", repo_path=str(root)))
        self.assertIn("Tea", await self.said(client, "git_log", repo_path=str(root)))
        # It may read only.
        await self.refused(client, "git_add", repo_path=str(root), files=["docs/tea.md"])
        staged = subprocess.run(["git", "diff", "--cached", "--name-only"], cwd=root, capture_output=True, check=True)
        self.assertEqual(staged.stdout, b"")

    @in_one_task
    async def test_time(self) -> None:
        self.declare(declared("time", pypi("mcp_server_time", "--local-timezone", "Asia/Tokyo"), reads("docs")))
        client = await self.connect()
        self.assertEqual(set(await self.tools(client, "time_")), {"time_get_current_time", "time_convert_time"})
        wanted = {"source_timezone": "Asia/Tokyo", "time": "09:00", "target_timezone": "Asia/Kolkata"}
        result = await client.call_tool("time_convert_time", wanted)
        self.assertEqual(result.structured_content["time_difference"], "-3.5h")
        self.assertIn("T05:30:00", result.structured_content["target"]["datetime"])
        self.assertIn("Nowhere", await self.refused(client, "time_get_current_time", timezone="Nowhere"))

    @in_one_task
    async def test_fetch(self) -> None:
        with site() as (port, visits):
            command = pypi("mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips")
            # It has npm download a package as soon as it finds a Node, and waits for that.
            self.declare(declared("web", command, 'env.PATH = "/nothing"', reads("docs"), reaches(port)))
            client = await self.connect()
            self.assertEqual(set(await self.tools(client, "web_")), {"web_fetch"})
            page = await self.said(client, "web_fetch", url=f"http://127.0.0.1:{port}/pot")
            self.assertIn("The kettle at /pot is on.", page)
            self.assertEqual(visits, ["/pot"])

    @in_one_task
    async def test_all_behind_one_jig(self) -> None:
        """One connection, one log: what one server may is no other's business."""
        self.declare(
            declared("files", npm("server-filesystem", str(self.workspace.root)), reads("docs")),
            declared("everything", npm("server-everything"), reads("docs")),
            declared("time", pypi("mcp_server_time"), reads("docs")),
        )
        client = await self.connect()
        known = ("files_read_text_file", "everything_echo", "time_get_current_time")
        servers = {name.split("_")[0] for name in await self.tools(client, "", *known)}
        self.assertLessEqual({"files", "everything", "time"}, servers)
        self.assertEqual(await self.said(client, "everything_echo", message="tea"), "Echo: tea")
        await self.said(client, "time_get_current_time", timezone="UTC")
        await self.said(client, "files_read_text_file", path=str(self.workspace.root / "docs/tea.md"))
        log = self.jig("log")
        for name in ("everything_echo", "time_get_current_time", "files_read_text_file"):
            self.assertIn(name, log)
