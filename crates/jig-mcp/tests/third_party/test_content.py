"""What server-everything says reaches the client as it would without jig: blocks of every kind, structured
content, questions, progress; and what the client says reaches the server: answers, and that a call is given up."""

from __future__ import annotations

import asyncio
import base64
import re
import socket
import subprocess
from contextlib import contextmanager
from typing import Any, Iterator

import anyio
from mcp_types import CallToolResult

from behind import LONG, Behind, changes, declared, npm, patched, reads
from client import Person, combinations, in_one_task, text_of
from serving import PATIENCE, wait_until

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("echo", {"message": "päivää \u0000 \U0001f375"}),
    ("get-sum", {"a": 1, "b": 2.5}),
    ("get-tiny-image", {}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-annotated-message", {"messageType": "debug", "includeImage": False}),
    ("get-resource-links", {"count": 4}),
    ("get-resource-reference", {"resourceType": "Text", "resourceId": 3}),
    ("get-resource-reference", {"resourceType": "Blob", "resourceId": 4}),
    ("get-structured-content", {"location": "Chicago"}),
]


class Content:
    """The tests; each runs in both eras."""

    async def everything(self: Any, person: Person | None = None) -> Any:
        self.declare(declared("everything", npm("server-everything"), reads("docs")))
        return await self.connect(person)

    async def test_blocks_pass_unchanged(self: Any) -> None:
        through = await self.everything()
        directly = await self.directly(npm("server-everything"))
        kinds = set()
        for tool, arguments in CALLS:
            expected = timeless(await directly.call_tool(tool, arguments))
            result = await through.call_tool(f"everything_{tool}", arguments)
            self.assertEqual(timeless(result), expected, tool)
            kinds |= {block.type for block in result.content}
        # The calls are not all of one kind, or there would be little to see.
        self.assertEqual(kinds, {"text", "image", "resource", "resource_link"})

    async def test_definitions_pass(self: Any) -> None:
        through = await self.tools(await self.everything(), "everything_")
        directly = await self.tools(await self.directly(npm("server-everything")))
        self.assertLessEqual({f"everything_{name}" for name in directly}, set(through))
        for name, tool in directly.items():
            offered = through[f"everything_{name}"]
            self.assertEqual(offered.description, tool.description)
            self.assertEqual(offered.title, tool.title)
            self.assertEqual(offered.input_schema["properties"], tool.input_schema["properties"])
            self.assertEqual(offered.output_schema, tool.output_schema)

    async def test_wrong_arguments_do_not_reach_the_server(self: Any) -> None:
        client = await self.everything()
        for arguments in ({}, {"a": 1}, {"a": "many", "b": 2}):
            self.assertRegex(await self.refused(client, "everything_get-sum", **arguments), r"\ba\b|\bb\b")

    async def test_a_question_of_the_server(self: Any) -> None:
        answer = {"name": "Ada", "check": True, "integer": 7, "email": "ada@example.com"}
        person = Person(answer, "decline")
        client = await self.everything(person)
        said = await self.said(client, "everything_trigger-elicitation-request")
        for part in ("- Name: Ada", "- Agreed to terms: true", "- Favorite Integer: 7", "- Email: ada@example.com"):
            self.assertIn(part, said)
        self.assertIn("Please provide inputs", person.asked[0].message)
        properties = person.asked[0].requested_schema["properties"]
        self.assertEqual(properties["integer"]["maximum"], 100)
        self.assertEqual(len(properties["untitledSingleSelectEnum"]["enum"]), 6)
        result = await client.call_tool("everything_trigger-elicitation-request", {})
        self.assertIn("declined", text_of(result))
        self.assertEqual(len(person.asked), 2)

    async def test_progress_and_cancellation(self: Any) -> None:
        # The package's tool does not say when it is given up; this one does.
        file, here = LONG
        told = "extra.signal.addEventListener('abort', () => fs.writeFileSync('told/given-up', 'yes'));"
        packages = patched(self.outside, file, here, f"{here}\n        {told}")
        patched(self.outside, file, 'import { z } from "zod";', 'import { z } from "zod";\nimport fs from "node:fs";')
        command = npm("server-everything", packages=packages)
        self.declare(declared("everything", command, changes("told"), system=[self.outside]))
        (self.workspace.root / "told").mkdir()
        client = await self.connect()
        heard: list[tuple[float, str | None]] = []

        async def progress(done: float, _total: float | None, message: str | None) -> None:
            heard.append((done, message))

        wanted = {"duration": 0.6, "steps": 3}
        tool = "everything_trigger-long-running-operation"
        result = await client.call_tool(tool, wanted, progress_callback=progress)
        self.assertIn("completed. Duration: 0.6 seconds, Steps: 3", text_of(result))
        # Where the machine is slow they come close together, and what comes too often is dropped.
        values = [done for done, _ in heard]
        messages = [message for _, message in heard]
        self.assertTrue(heard)
        self.assertEqual(values, sorted(set(values)), "it only goes up")
        self.assertEqual(messages, [step for step in ("1/3", "2/3", "3/3") if step in messages])

        heard.clear()
        wanted = {"duration": 3600, "steps": 36000}
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: client.call_tool(tool, wanted, progress_callback=progress))
                while not heard:
                    await anyio.sleep(0.02)
                group.cancel_scope.cancel()
        given_up = self.workspace.root / "told" / "given-up"
        await asyncio.to_thread(wait_until, "the server was told", given_up.exists)
        self.assertEqual(await self.said(client, "everything_echo", message="still there"), "Echo: still there")


combinations(globals(), Content, transports=("stdio",), base=Behind)


class OverHttp(Behind):
    """The client may come by HTTP, and so may jig to a server."""

    @in_one_task
    async def test_a_client_that_comes_by_http(self) -> None:
        self.transport = "http"
        self.declare(declared("everything", npm("server-everything"), reads("docs")))
        person = Person({"name": "Ada"})
        client = await self.connect(person)
        self.assertEqual(await self.said(client, "everything_echo", message="tea"), "Echo: tea")
        self.assertIn("- Name: Ada", await self.said(client, "everything_trigger-elicitation-request"))
        image = await client.call_tool("everything_get-tiny-image", {})
        self.assertIn("image", [block.type for block in image.content])

    @in_one_task
    async def test_a_server_that_is_reached_by_http(self) -> None:
        with self.remote() as url:
            self.declare(f'[mcp.servers.far]\nurl = "{url}"\nrun = "unattended"\n')
            person = Person({"name": "Ada"})
            client = await self.connect(person)
            self.assertEqual(await self.said(client, "far_echo", message="tea"), "Echo: tea")
            self.assertIn("- Name: Ada", await self.said(client, "far_trigger-elicitation-request"))
            directly = await self.directly(npm("server-everything"))
            for tool, arguments in CALLS:
                expected = timeless(await directly.call_tool(tool, arguments))
                self.assertEqual(timeless(await client.call_tool(f"far_{tool}", arguments)), expected, tool)

    @contextmanager
    def remote(self) -> Iterator[str]:
        """Where a server-everything listens that is not started by jig."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(
            npm("server-everything", "streamableHttp"),
            env={**self.workspace.environment(), "PORT": str(port)},
            cwd=self.outside,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until("it listens", lambda: server.poll() is not None or listens(port))
            self.assertIsNone(server.poll(), "it has ended")
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.kill()
            server.wait()


def listens(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def timeless(result: CallToolResult) -> Any:
    """A result as JSON, without the times of day that stand in its texts, and without what is not the server's."""
    blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    for block in blocks:
        resource = block.get("resource", {})
        if "blob" in resource:
            resource["blob"] = base64.b64decode(resource["blob"]).decode()
        for holder, key in ((block, "text"), (resource, "text"), (resource, "blob")):
            if key in holder:
                holder[key] = re.sub(r"\d+:\d\d:\d\d(\s[AP]M)?", "TIME", holder[key])
    return {"content": blocks, "structured": result.structured_content, "error": bool(result.is_error)}
