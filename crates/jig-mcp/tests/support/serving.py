"""A workspace and a running `jig mcp` in it, for tests by foreign clients.

`JIG` in the environment is the program under test. Nothing of the user's is read or written: configuration
and state have their place in a directory that is removed at the end.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator, Sequence

JIG = os.environ["JIG"]

# A machine that builds something else at the same time is slow, and that is no failure.
PATIENCE = 60.0


class Workspace:
    """A directory with files in it, and an environment for programs that work there."""

    def __init__(self, files: dict[str, str]) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="jig-mcp-")
        base = Path(self._temporary.name).resolve()
        self.root = base / "workspace"
        self.home = base / "home"
        for folder in (self.root, self.home):
            folder.mkdir()
        for path, text in files.items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("JIG", "XDG_"))}
        return {
            **kept,
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_RUNTIME_DIR": str(self.home),
            # The tests write what the workspace says, as its user does.
            "JIG_TRUST": "1",
            **more,
        }

    def close(self) -> None:
        self._temporary.cleanup()


class Server:
    """A `jig mcp --http` that runs, where it listens and what it has said."""

    def __init__(self, workspace: Workspace, arguments: Sequence[str], environment: dict[str, str]) -> None:
        command = [JIG, "mcp", "--http", "127.0.0.1:0", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=workspace.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self.said: list[str] = []
        self._found: str | None = None
        self._listens = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._listens.wait(PATIENCE) or self._found is None:
            self.stop()
            raise AssertionError(f"`{' '.join(command)}` does not listen: {''.join(self.said)}")
        self.url = self._found

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
            if found is not None and self._found is None:
                self._found = found.group()
                self._listens.set()
        # It has ended; whoever waits need not wait longer.
        self._listens.set()

    def stop(self) -> int:
        """Ends it as a person would, and returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join(PATIENCE)
            if self.process.stderr is not None:
                self.process.stderr.close()


@contextmanager
def http(workspace: Workspace, *arguments: str, token: str | None) -> Iterator[Server]:
    """A server on a port of its own, stopped at the end."""
    more = {} if token is None else {"JIG_MCP_TOKEN": token}
    server = Server(workspace, arguments, workspace.environment(**more))
    try:
        yield server
    finally:
        code = server.stop()
    if code != 0:
        raise AssertionError(f"the server ended with {code}: {''.join(server.said)}")


def processes(mark: str) -> list[int]:
    """The processes that have `mark` as one of their arguments, those in namespaces below ours included."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(folder.name))
    return found


def wait_until(what: str, is_so: Callable[[], bool]) -> None:
    """Waits for a condition, and fails if it does not come true."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(f"after {PATIENCE:.0f} s it is not so: {what}")
        time.sleep(0.02)
