"""The two pipes to the host: one JSON object per line, raw bytes behind a line that says so.

What arrives is read by a thread of its own, so that a tool that computes still learns that it was
cancelled, and the host never waits for a tool that writes.
"""

from __future__ import annotations

import json
import os
import queue
import threading
from typing import Any, Dict, Mapping, NamedTuple, Optional, Union

from jig_tool._errors import Disconnected, ProtocolError, TooLarge


class Message(NamedTuple):
    """A message of the host."""

    body: Dict[str, Any]
    blob: Optional[bytes]

    @property
    def method(self) -> Optional[str]:
        """The name of a notification; ``None`` for a response."""
        return self.body.get("method")

    @property
    def params(self) -> Dict[str, Any]:
        """The params of a notification; none are the same as an empty object."""
        params = self.body.get("params")
        if params is None:
            return {}
        if not isinstance(params, dict):
            raise ProtocolError(f"the params of the host's `{self.method}` must be an object")
        return params


class Channel:
    """Lines to and from the host, over two file descriptors that nobody else uses."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._inbox: queue.SimpleQueue[Union[Message, ProtocolError, Disconnected]]
        self._inbox = queue.SimpleQueue()
        self._ended: Optional[Disconnected] = None
        self._buffer = bytearray()
        self.cancelled = threading.Event()
        """Set as soon as ``cancel`` has arrived, whatever the tool does at that time."""
        self.blobs = False
        """Whether a line may announce raw bytes, which the two sides must have agreed upon."""
        self.message_bytes: Optional[int] = None
        """The longest line that the host reads."""
        # A daemon: the thread waits for the host for as long as the tool lives.
        threading.Thread(target=self._read_all, name="jig-host", daemon=True).start()

    def send(self, message: Mapping[str, Any], blob: Optional[bytes] = None) -> None:
        """Writes a message, and the raw bytes that belong to it."""
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        line = text.encode("utf-8")
        limit = self.message_bytes
        # The host would drop the line, and for a result there would be no answer that says so.
        if limit is not None and max(len(line), len(blob or b"")) > limit:
            size = max(len(line), len(blob or b""))
            raise TooLarge(
                f"the message has {size} bytes; the limit is {limit}",
                hint="send large content in parts, with `append`",
            )
        self._write(line + b"\n")
        if blob:
            self._write(blob)

    def receive(self, timeout: Optional[float] = None) -> Message:
        """The next message; ``queue.Empty`` if there is none within ``timeout`` seconds.

        Raises ``ProtocolError`` for a line that is no message, after which one can go on, and
        ``Disconnected`` at the end.
        """
        if self._ended is not None:
            raise Disconnected(self._ended.message)
        item = self._inbox.get(timeout=timeout) if timeout != 0 else self._inbox.get_nowait()
        if isinstance(item, Disconnected):
            self._ended = item
        if isinstance(item, Exception):
            raise item
        return item

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._write_fd, rest) :]
        except BrokenPipeError as error:
            raise Disconnected("the host has closed the connection") from error

    def _read_all(self) -> None:
        """The thread: everything that goes wrong becomes an item, because nobody catches it."""
        try:
            while True:
                try:
                    message = self._read_message()
                except ProtocolError as error:
                    self._inbox.put(error)
                    continue
                if message.method == "cancel":
                    self.cancelled.set()
                self._inbox.put(message)
        except Disconnected as error:
            self._inbox.put(error)
        except Exception as error:
            self._inbox.put(Disconnected(f"reading from the host failed: {error}"))

    def _read_message(self) -> Message:
        line = self._read_line()
        while not line.strip():
            line = self._read_line()
        try:
            body = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"the host's line is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise ProtocolError("the host's line is not a JSON object")
        blob = self._read_blob(body.get("blob")) if self.blobs else None
        if body.get("jsonrpc") != "2.0":
            raise ProtocolError('the host\'s line is not a message: `jsonrpc` must be "2.0"')
        if not isinstance(body.get("method", ""), str):
            raise ProtocolError("the host's line is not a message: `method` must be a string")
        return Message(body, blob)

    def _read_line(self) -> bytes:
        searched = 0
        while True:
            end = self._buffer.find(b"\n", searched)
            if end >= 0:
                return self._take(end + 1)
            searched = len(self._buffer)
            if not self._fill():
                # A last line without end is a line.
                if searched:
                    return self._take(searched)
                raise Disconnected("the host has closed the connection")

    def _read_blob(self, length: object) -> Optional[bytes]:
        if length is None:
            return None
        if not isinstance(length, int) or isinstance(length, bool) or length < 0:
            raise ProtocolError("the host's `blob` must be a number of bytes")
        while len(self._buffer) < length:
            if not self._fill():
                raise Disconnected("the host has closed the connection amid a message")
        return self._take(length)

    def _fill(self) -> bool:
        chunk = os.read(self._read_fd, CHUNK_BYTES)
        self._buffer += chunk
        return bool(chunk)

    def _take(self, length: int) -> bytes:
        taken = bytes(memoryview(self._buffer)[:length])
        del self._buffer[:length]
        return taken


CHUNK_BYTES = 256 * 1024
