"""What the tests of this folder have in common: a workspace with tools, and a client that is connected."""

from __future__ import annotations

import asyncio
import functools
import logging
import unittest
from contextlib import AsyncExitStack
from typing import Any, Awaitable, Callable, Sequence

import mcp_types as types
from mcp import Client
from mcp.client import ClientExtension
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from serving import JIG, PATIENCE, Workspace, http

CONFIG = """
# It appends to `runs`, so that a test sees how often it ran.
[tools.paint]
source = "local"
runtime = "vfs"
command = "sh paint.sh"
run = "unattended"
description = "Asks for a colour."
[[tools.paint.access.fs]]
path = "runs"
read = true
write = true

[tools.steps]
source = "local"
runtime = "vfs"
command = "sh steps.sh"
run = "unattended"
description = "Tells how far it is."

[tools.crawl]
source = "local"
command = "sleep {{tool.arguments.seconds}}"
run = "unattended"
description = "Takes its time."
[tools.crawl.parameters.seconds]
type = "string"
required = true

[tools.build]
source = "local"
command = "sh -c 'sleep 1; echo built'"
run = "unattended"
stateful = ["spawn", "fetch", "abort"]
description = "Builds something that takes a while."

[tools.measure]
source = "local"
command = "sh measure.sh"
run = "unattended"
description = "Returns a size."
[tools.measure.output]
type = "object"
properties.size.type = "integer"
required = ["size"]

[tools.flood]
source = "local"
command = "sh -c 'i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done'"
run = "unattended"
description = "Says a lot."

[[tools.fs_read_file.access.fs]]
path = "."
read = true
[[tools.fs_read_file.access.fs]]
path = "secret"
read = false

[kb.topic.style]
title = "House style"
introduction = "How we write here."
subjects = "docs"
"""

# A tool of runtime `vfs` that asks before it answers.
PAINT = """
read -r init
echo '{"jsonrpc":"2.0","id":1,"method":"fs.append","params":{"path":"runs","content":"ran;"}}'
read -r answer
echo '{"jsonrpc":"2.0","method":"state","params":{"type":"waiting","question":{"id":"colour","text":"Which colour?","schema":{"enum":["red","blue"]}}}}'
read -r answer
case $answer in
*'"input":"red"'*) chosen=red ;;
*'"input":"blue"'*) chosen=blue ;;
*) exit 1 ;;
esac
echo '{"jsonrpc":"2.0","method":"result","params":{"content":"painted '$chosen'"}}'
"""

STEPS = """
read -r init
for step in 1 2 3; do
    echo '{"jsonrpc":"2.0","method":"state","params":{"type":"running","content":"step '$step' of 3"}}'
    sleep 0.2
done
echo '{"jsonrpc":"2.0","method":"result","params":{"content":"all steps done"}}'
"""

FILES = {
    "jig.toml": CONFIG,
    "paint.sh": PAINT,
    "steps.sh": STEPS,
    "measure.sh": "echo '{\"size\": 3}'\n",
    "runs": "",
    "notes.txt": "remember the milk\n",
    "secret/key": "hunter2\n",
    "docs/naming.md": "Names say what a thing is.\n",
    "docs/errors.md": "Errors say what to do.\n",
}

# The client remarks that a session was ended with 202, which says what 200 and 204 do.
logging.getLogger("mcp.client.streamable_http").setLevel(logging.ERROR)

TOKEN = "a-token-for-one-test-and-no-other"


class Person:
    """Somebody at the client who is asked, with what they will say and what they were asked."""

    def __init__(self, *answers: dict[str, Any] | str) -> None:
        self.answers = list(answers)
        self.asked: list[types.ElicitRequestFormParams] = []

    async def __call__(self, _context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params)
        answer = self.answers.pop(0) if self.answers else "cancel"
        if isinstance(answer, str):
            return types.ElicitResult(action=answer)  # type: ignore[arg-type]
        return types.ElicitResult(action="accept", content=answer)


class Session(unittest.TestCase):
    """One workspace for each test, over one transport and in one era of the protocol."""

    era: str
    transport: str
    stack: AsyncExitStack

    def setUp(self) -> None:
        self.workspace = Workspace(FILES)
        self.addCleanup(self.workspace.close)

    @property
    def is_modern(self) -> bool:
        return self.era == "modern"

    async def connect(
        self,
        person: Person | None = None,
        extensions: list[ClientExtension] | None = None,
        messages: list[Any] | None = None,
    ) -> Client:
        """A client of a server that is stopped when the test ends."""

        async def keep(message: Any) -> None:
            if messages is not None:
                messages.append(message)

        client = Client(
            await self.streams(),
            mode="auto" if self.is_modern else "legacy",
            elicitation_callback=person,
            extensions=extensions,
            message_handler=keep,
            read_timeout_seconds=PATIENCE,
            cache=None,
        )
        return await self.stack.enter_async_context(client)

    async def streams(self) -> Any:
        if self.transport == "stdio":
            errors = open(self.workspace.home / "stderr", "w", encoding="utf-8")
            server = StdioServerParameters(
                command=JIG,
                args=["mcp"],
                cwd=self.workspace.root,
                env=self.workspace.environment(),
            )
            return stdio_client(server, errlog=self.stack.enter_context(errors))
        url = self.stack.enter_context(http(self.workspace, token=TOKEN)).url
        client = create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"})
        await self.stack.enter_async_context(client)
        return streamable_http_client(url, http_client=client)


def in_one_task(test: Callable[[Any], Awaitable[None]]) -> Callable[[Any], None]:
    """The test as unittest runs it: what it connects is closed by the task that connected it."""

    @functools.wraps(test)
    def run(self: Session) -> None:
        async def whole() -> None:
            async with AsyncExitStack() as self.stack:
                await test(self)

        asyncio.run(whole())

    return run


ERAS = {"legacy": "2025", "modern": "2026"}


def combinations(module: dict[str, Any], cases: type, eras: Sequence[str] = tuple(ERAS)) -> None:
    """Puts a class into `module` for each era over each transport."""
    tests = {
        name: in_one_task(test) for name, test in vars(cases).items() if name.startswith("test_")
    }
    for era in eras:
        for transport in ("stdio", "http"):
            name = f"{cases.__name__}{ERAS[era]}Over{transport.capitalize()}"
            members = {"era": era, "transport": transport, "__module__": module["__name__"]}
            module[name] = type(name, (cases, Session), {**members, **tests})


def text_of(result: types.CallToolResult) -> str:
    """All text of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
