"""File objects on a proxy: :func:`open_file`, and the raw file below all of them."""

from __future__ import annotations

import base64
import binascii
import io
from typing import IO, TYPE_CHECKING, Any, List, Optional, Tuple, cast

from jig_tool._proxy_connection import Connection, JsonObject, Pending, as_json
from jig_tool._proxy_errors import Failed, ProtocolError, ProxyError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class RawFile(io.RawIOBase):
    """An open file of the proxy, without a buffer.

    One object is for one thread at a time, as it is with all of Python's files. ``handle`` is the
    number by which the proxy knows it, ``mode`` how the proxy has opened it.
    """

    # One chunk is a request and an answer. To ask for many at once pays off only for what is large,
    # so the number grows with what was found.
    _window = 2
    _most_in_flight = 32

    def __init__(self, connection: Connection, name: str, mode: str, handle: int) -> None:
        self._connection = connection
        self.name = name
        self.mode = mode
        self.handle = handle
        # Where the handle stands; unknown for a file to which others append, too.
        self._position: Optional[int] = None if mode == "a" else 0
        self._is_at_end = False
        self._failure: Optional[ProxyError] = None
        self.has_moved = False
        """Whether anything was read, so that a buffer above may hold some of it."""

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"handle={self.handle}"
        return f"<jig_tool.proxy.RawFile name={self.name!r} mode={self.mode!r} {state}>"

    def readable(self) -> bool:
        self._check_open()
        return self.mode in ("r", "rw")

    def writable(self) -> bool:
        self._check_open()
        return self.mode != "r"

    def seekable(self) -> bool:
        """Whether it was opened for reading.

        The protocol has no seek. To go back, the file is opened once more, and to go forward, it is
        read: both are right, and cost what they cost.
        """
        self._check_open()
        return self.mode in ("r", "rw")

    def tell(self) -> int:
        self._check_open()
        if self._position is None:
            raise io.UnsupportedOperation("where this file stands is known to the proxy only")
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if not self.seekable():
            raise io.UnsupportedOperation("a file of the proxy that can't be read can't seek")
        if whence == io.SEEK_CUR:
            offset += self.tell()
        elif whence == io.SEEK_END:
            offset += self._size()
        elif whence != io.SEEK_SET:
            raise ValueError(f"invalid whence: {whence}")
        if offset < 0:
            raise ValueError(f"negative seek position {offset}")
        if self._position is None or offset < self._position:
            self._reopen()
        self._is_at_end = False
        self._skip(offset)
        return offset

    def readinto(self, buffer: WriteableBuffer) -> int:
        self._check(self.readable(), "read")
        view = memoryview(buffer).cast("B")
        if self._is_at_end:
            # The answer that brought the last bytes said so, too.
            self._is_at_end = False
            return 0
        data = self._read_some(len(view))
        view[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        self._check(self.readable(), "read")
        parts: List[bytes] = []
        while not self._is_at_end:
            part = self._read_some(self._window * CHUNK_BYTES)
            if not part:
                break
            parts.append(part)
        self._is_at_end = False
        return b"".join(parts)

    def write(self, data: ReadableBuffer) -> int:
        self._check(self.writable(), "write")
        view = memoryview(data).cast("B")[: WRITE_BYTES * WRITES_IN_FLIGHT]
        parts = [view[start : start + WRITE_BYTES] for start in range(0, len(view), WRITE_BYTES)]
        requests = [("write", _write_params(self.handle, part)) for part in parts]
        pending = self._connection.send(requests)
        for part, one in zip(parts, pending):
            written = _integer(self._connection.wait(one), "written")
            if written != len(part):
                # Those behind it were sent already: what is in the file now is not what was meant.
                self._failure = Failed(f"the proxy wrote {written} of {len(part)} bytes")
                raise self._failure
        if self._position is not None:
            self._position += len(view)
        return len(view)

    def close(self) -> None:
        """Closes the file at the proxy; what the proxy answers instead is raised, but only once."""
        if self.closed:
            return
        super().close()
        self._close_handle()

    def moved(self) -> None:
        """Notes that the proxy itself has read from, or written to, the handle."""
        self._position = None
        self.has_moved = True

    def _close_handle(self) -> None:
        if self._connection.is_closed:
            return  # And with it every file; or the file is another process's.
        if self._connection.is_busy_here():
            self._connection.close_later(self.handle)
        else:
            self._connection.open_handles.discard(self.handle)
            self._connection.call("close", {"h": self.handle})

    def _read_some(self, size: int) -> bytes:
        """At most that much, by as many requests at once as the window allows."""
        count = min(self._window, max(1, -(-size // CHUNK_BYTES)))
        sizes = [min(CHUNK_BYTES, size - CHUNK_BYTES * index) for index in range(count)]
        requests = [("read", b'{"h":%d,"max":%d}' % (self.handle, one)) for one in sizes if one]
        pending = self._connection.send(requests)
        parts: List[bytes] = []
        is_end = False
        try:
            for one in pending:
                part, is_end = _chunk(self._connection.wait(one))
                parts.append(part)
        except ProxyError as error:
            self._failure = error
            if not parts:
                raise
            # What was read before is good. The next read meets the error.
        except BaseException:
            # The proxy has moved on by what nobody will ever see.
            self._failure = Failed("a read of this file was interrupted")
            raise
        data = b"".join(parts)
        self.has_moved = self.has_moved or bool(data)
        if len(data) > size:
            raise ProtocolError(f"the proxy sent {len(data)} bytes where {size} were asked for")
        if self._position is not None:
            self._position += len(data)
        if len(data) == sum(sizes):
            self._window = min(self._window * 2, self._most_in_flight)
        self._is_at_end = is_end and bool(data)
        return data

    def _size(self) -> int:
        """The size, found by reading to the end, where the file then stands."""
        if self._position is None:
            self._reopen()
        while self._read_some(BUFFER_BYTES):
            pass
        return self.tell()

    def _skip(self, offset: int) -> None:
        """Reads up to a position; a file may end before it."""
        while self.tell() < offset:
            if not self._read_some(offset - self.tell()):
                if self.writable():
                    raise io.UnsupportedOperation("a file of the proxy can't seek past its end")
                # As with every file: there is nothing to be read there.
                self._position = offset
        self._is_at_end = False

    def _reopen(self) -> None:
        handle = open_handle(self._connection, self.name, self.mode, None)
        old, self.handle = self.handle, handle
        self._position, self._failure = 0, None
        self._connection.close_later(old)

    def _check(self, is_allowed: bool, what: str) -> None:
        if not is_allowed:
            raise io.UnsupportedOperation(f"the file is not open to {what}")
        if self._failure is not None:
            raise self._failure

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file.")


class StandardStream(RawFile):
    """One of 0, 1 and 2, which belong to the parent process: they are never closed from here."""

    # More than one read at once would take more input than was asked for, and wait for it.
    _window = _most_in_flight = 1

    def __init__(self, connection: Connection, name: str, mode: str, handle: int) -> None:
        super().__init__(connection, name, mode, handle)
        self._position = None

    def seekable(self) -> bool:
        self._check_open()
        return False

    def _close_handle(self) -> None:
        pass


def open_file(
    connection: Connection,
    path: str,
    mode: str,
    buffering: int,
    encoding: str,
    errors: str,
    newline: Optional[str],
    top_level: Optional[bool],
) -> IO[Any]:
    """The file object that :meth:`jig_tool.proxy.Client.open` describes."""
    kind, is_binary = _parse_mode(mode)
    if buffering == 0 and not is_binary:
        raise ValueError("can't have unbuffered text I/O")
    if kind == "r+":
        # The protocol's `rw` makes a file that is missing, which Python's `r+` never does.
        _open_and_close(connection, path, "r", top_level)
    wire_mode = "rw" if kind.endswith("+") else kind
    handle = open_handle(connection, path, wire_mode, top_level)
    raw = RawFile(connection, path, wire_mode, handle)
    try:
        if kind == "w+":
            # Emptied only now that it is sure that it may be read, too.
            _open_and_close(connection, path, "w", top_level)
        return wrapped(raw, is_binary, buffering, encoding, errors, newline)
    except BaseException:
        raw.close()
        raise


def wrapped(
    raw: RawFile,
    is_binary: bool,
    buffering: int,
    encoding: str,
    errors: str,
    newline: Optional[str],
) -> IO[Any]:
    """A raw file in the layers that the builtin `open` would put around it."""
    if buffering == 0:
        return cast(IO[Any], raw)
    size = buffering if buffering > 1 else BUFFER_BYTES
    buffered: io.BufferedIOBase
    if raw.mode == "rw":
        buffered = io.BufferedRandom(raw, size)
    elif raw.mode == "r":
        buffered = io.BufferedReader(raw, size)
    else:
        buffered = io.BufferedWriter(raw, size)
    if is_binary:
        return cast(IO[Any], buffered)
    return io.TextIOWrapper(
        cast(IO[bytes], buffered), encoding, errors, newline, line_buffering=buffering == 1
    )


def open_handle(connection: Connection, path: str, mode: str, top_level: Optional[bool]) -> int:
    """Opens a file at the proxy: its handle."""
    params: JsonObject = {"path": path, "mode": mode}
    if top_level is not None:
        params["is_top_level"] = top_level
    pending = connection.send([("open", as_json(params))])[0]
    try:
        handle = _integer(connection.wait(pending), "handle")
        connection.open_handles.add(handle)
        return handle
    except ProxyError as error:
        error.filename = path
        raise
    except BaseException:
        _close_when_open(connection, pending)
        raise


def raw_file(file: object) -> RawFile:
    """The raw file below a file object of a proxy; ``TypeError`` for any other object."""
    layer: Any = file
    if isinstance(layer, io.TextIOBase):
        layer = getattr(layer, "buffer", None)
    if isinstance(layer, (io.BufferedReader, io.BufferedWriter, io.BufferedRandom)):
        layer = layer.raw
    if not isinstance(layer, RawFile):
        raise TypeError(f"not a file of the proxy: {file!r}")
    return layer


def _close_when_open(connection: Connection, pending: Pending) -> None:
    """For an open that was given up while it was under way."""
    pending.is_unwanted_open = True
    handle = pending.result.get("handle")
    if pending.is_done and isinstance(handle, int):
        connection.close_later(handle)


def _open_and_close(
    connection: Connection, path: str, mode: str, top_level: Optional[bool]
) -> None:
    connection.close_later(open_handle(connection, path, mode, top_level))


def _parse_mode(mode: str) -> Tuple[str, bool]:
    """The mode without `b` and `t`, and whether it is binary."""
    kind = "".join(letter for letter in mode if letter not in "bt+")
    rest = sorted(letter for letter in mode if letter in "bt+")
    if kind == "x" or (kind == "a" and "+" in rest):
        raise ValueError(f"the mode {mode!r} is not supported: the proxy has none like it")
    is_known = kind in ("r", "w", "a") or (kind == "rw" and "+" not in rest)
    if not is_known or rest not in ([], ["b"], ["t"], ["+"], ["+", "b"], ["+", "t"]):
        raise ValueError(f"invalid mode: {mode!r}")
    return kind + ("+" if "+" in rest else ""), "b" in rest


def _write_params(handle: int, part: memoryview) -> bytes:
    return b'{"h":%d,"data":"%s"}' % (handle, binascii.b2a_base64(part, newline=False))


def _chunk(result: JsonObject) -> Tuple[bytes, bool]:
    data, is_end = result.get("data"), result.get("eof")
    if not isinstance(data, str) or not isinstance(is_end, bool):
        raise ProtocolError("the proxy's answer to `read` is malformed")
    try:
        return base64.b64decode(data.encode("ascii"), validate=True), is_end
    except ValueError as error:
        raise ProtocolError("the proxy's answer to `read` is not base64") from error


def _integer(result: JsonObject, key: str) -> int:
    value = result.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ProtocolError(f"the proxy's answer is malformed: `{key}` must be a number")
    return value


CHUNK_BYTES = 4096
"""The most that one read may ask for."""

WRITE_BYTES = 64 * 1024
"""What one write carries, far below what a message may hold."""

WRITES_IN_FLIGHT = 4

BUFFER_BYTES = 32 * CHUNK_BYTES
