"""Servers of other people behind `jig mcp`: how each is installed, declared and patched.

Nothing here loosens a sandbox: a server sees its own package, its toolchain, and what its rules name.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Iterator, Sequence

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import client
import node
from serving import JIG, PATIENCE

# The packages from npm.
PACKAGES = node.PROGRAMS.parent
# The environment with the packages from PyPI, which also runs the tests.
ENVIRONMENT = Path(sys.prefix)
PYTHON = str(ENVIRONMENT / "bin" / "python")


def npm(name: str, *arguments: str, packages: Path = PACKAGES) -> list[str]:
    """The command of a server from npm."""
    script = packages / "@modelcontextprotocol" / name / "dist" / "index.js"
    return [*node.interpreter(), str(script), *arguments]


def pypi(module: str, *arguments: str) -> list[str]:
    """The command of a server from PyPI."""
    return [PYTHON, "-m", module, *arguments]


def declared(name: str, command: Sequence[str], *rules: str, system: Sequence[Path] = ()) -> str:
    """The entry of a server: its command, its toolchain, and the rules that are given."""
    shown = [f"{{ path = {json.dumps(str(path))}, execute = true }}" for path in (PACKAGES, ENVIRONMENT, *system)]
    return "\n".join(
        [
            f"[mcp.servers.{name}]",
            f"command = {json.dumps(list(command))}",
            'run = "unattended"',
            'sandbox.presets = ["node", "python"]',
            f"sandbox.system = [{', '.join(shown)}]",
            *(rule.replace("SERVER", f"mcp.servers.{name}") for rule in rules),
            "",
        ]
    )


def reads(path: str) -> str:
    """A rule that lets a server read a path of the workspace; without one it could change all of it."""
    return f'[[SERVER.access.fs]]\npath = "{path}"\nread = true'


def changes(path: str) -> str:
    """A rule that lets a server change a path of the workspace."""
    return f'[[SERVER.access.fs]]\npath = "{path}"\nread = true\nwrite = true'


def reaches(port: int) -> str:
    """A rule that lets a server reach a site on this machine."""
    return f'[[SERVER.access.net]]\nhost = "127.0.0.1"\nport = {port}\nallow = true'


def patched(folder: Path, file: str, old: str, new: str) -> Path:
    """A copy of server-everything in which one file says something else, beside the packages it needs."""
    packages = folder / "node_modules"
    scope = packages / "@modelcontextprotocol"
    if not packages.exists():
        scope.mkdir(parents=True)
        shutil.copytree(PACKAGES / scope.name / "server-everything", scope / "server-everything")
        for package in PACKAGES.iterdir():
            if package.name != scope.name:
                (packages / package.name).symlink_to(package)
        (scope / "sdk").symlink_to(PACKAGES / scope.name / "sdk")
    script = scope / "server-everything" / "dist" / file
    text = script.read_text(encoding="utf-8")
    if old not in text:
        raise AssertionError(f"server-everything's {file} has changed: {old} is not in it")
    script.write_text(text.replace(old, new), encoding="utf-8")
    return packages


# The handler of the tool `echo`, and of the one that takes long, before they do anything.
ECHO = ("tools/echo.js", "const validatedArgs = EchoSchema.parse(args);")
LONG = ("tools/trigger-long-running-operation.js", "const stepDuration = duration / steps;")


class Behind(client.Session):
    """Tests of servers behind jig. Their entries stand in the user's own file, which needs no acceptance."""

    era = "modern"
    transport = "stdio"

    def setUp(self) -> None:
        super().setUp()
        # Where servers have no business.
        self.outside = self.workspace.home.parent / "outside"
        self.outside.mkdir()

    @property
    def own_file(self) -> Path:
        return self.workspace.home / "config" / "jig" / "config.toml"

    def declare(self, *entries: str) -> None:
        self.own_file.parent.mkdir(parents=True, exist_ok=True)
        self.own_file.write_text("\n".join(entries), encoding="utf-8")

    async def directly(self, command: Sequence[str], person: client.Person | None = None) -> Client:
        """The same client, connected to a server without jig."""
        errors = open(self.workspace.home / "direct", "w", encoding="utf-8")
        server = StdioServerParameters(
            command=command[0],
            args=list(command[1:]),
            cwd=self.workspace.root,
            env=self.workspace.environment(),
        )
        streams = stdio_client(server, errlog=self.stack.enter_context(errors))
        connection = Client(
            streams, mode="auto", elicitation_callback=person, read_timeout_seconds=PATIENCE, cache=None
        )
        return await self.stack.enter_async_context(connection)

    async def tools(self, connection: Client, prefix: str = "", *known: str) -> dict[str, types.Tool]:
        """The tools with this prefix, once one has it and all that are `known` are there: a slow server comes later."""
        with anyio.fail_after(PATIENCE):
            while True:
                listed = (await connection.list_tools()).tools
                tools = {tool.name: tool for tool in listed if tool.name.startswith(prefix)}
                if tools and tools.keys() >= set(known):
                    return tools
                await anyio.sleep(0.05)

    async def said(self, connection: Client, tool: str, **arguments: Any) -> str:
        """What a call that goes well says."""
        result = await connection.call_tool(tool, arguments)
        self.assertFalse(result.is_error, client.text_of(result))
        return client.text_of(result)

    async def refused(self, connection: Client, tool: str, **arguments: Any) -> str:
        """What a call that fails says."""
        result = await connection.call_tool(tool, arguments)
        self.assertTrue(result.is_error, client.text_of(result))
        return client.text_of(result)

    def jig(self, *arguments: str) -> str:
        """What a command of jig says."""
        done = subprocess.run(
            [JIG, *arguments],
            cwd=self.workspace.root,
            env=self.workspace.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


def offered_rule(said: str) -> str:
    """The rule that a denial offers, as it stands there."""
    found = re.search(r"to allow it, add:\n((?: {4}.*(?:\n|$))+)", said)
    if found is None:
        raise AssertionError(f"no rule is offered: {said}")
    return "\n".join(line.removeprefix("    ") for line in found.group(1).splitlines()) + "\n"


class Site(BaseHTTPRequestHandler):
    """A page for whoever asks."""

    def do_GET(self) -> None:
        body = f"<html><body><h1>Tea</h1><p>The kettle at {self.path} is on.</p></body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.visits.append(self.path)  # type: ignore[attr-defined]

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def site() -> Iterator[tuple[int, list[str]]]:
    """A site on this machine: its port, and the pages that were asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.visits = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port, server.visits  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
