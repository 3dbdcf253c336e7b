"""The official Python client, connected to a `jig mcp` in a workspace of its own."""

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
    # What is in the workspace.
    files: dict[str, str] = {}

    def setUp(self) -> None:
        self.workspace = Workspace(self.files)
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


def combinations(
    module: dict[str, Any],
    cases: type,
    eras: Sequence[str] = tuple(ERAS),
    transports: Sequence[str] = ("stdio", "http"),
    base: type[Session] = Session,
) -> None:
    """Puts a class into `module` for each era over each transport."""
    tests = {
        name: in_one_task(test) for name, test in vars(cases).items() if name.startswith("test_")
    }
    for era in eras:
        for transport in transports:
            name = f"{cases.__name__}{ERAS[era]}Over{transport.capitalize()}"
            members = {"era": era, "transport": transport, "__module__": module["__name__"]}
            module[name] = type(name, (cases, base), {**members, **tests})


def text_of(result: types.CallToolResult) -> str:
    """All text of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
