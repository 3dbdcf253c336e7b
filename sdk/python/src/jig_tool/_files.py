"""File objects for code that wants them: :func:`open_file`."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING, Any, Callable, Optional, cast

from jig_tool._errors import AlreadyExists
from jig_tool._parts import PartReader
from jig_tool._paths import PathLike

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from jig_tool._host import Host


def open_file(
    host: Host,
    path: PathLike,
    mode: str,
    encoding: str,
    errors: str,
    newline: Optional[str],
) -> IO[Any]:
    """The file object that :meth:`jig_tool.vfs.Host.open` describes."""
    kind, is_binary, is_both = _parse_mode(mode)
    raw: io.BufferedIOBase
    if kind == "r" and not is_both:
        raw = _open_reader(host, path)
    else:
        raw = _open_writer(host, path, kind, is_both)
    if is_binary:
        return cast(IO[Any], raw)
    return io.TextIOWrapper(cast(IO[bytes], raw), encoding, errors, newline)


def _parse_mode(mode: str) -> "tuple[str, bool, bool]":
    kinds = [letter for letter in mode if letter in "rwxa"]
    rest = sorted(letter for letter in mode if letter not in "rwxa")
    if len(kinds) != 1 or rest not in ([], ["b"], ["t"], ["+"], ["+", "b"], ["+", "t"]):
        raise ValueError(f"invalid mode: {mode!r}")
    if kinds == ["a"] and "+" in rest:
        raise ValueError("the mode `a+` is not supported: read the file, then append to it")
    return kinds[0], "b" in rest, "+" in rest


def _open_reader(host: Host, path: PathLike) -> io.BufferedIOBase:
    if host.capabilities.ranges:
        return io.BufferedReader(_PartsIO(host._part_reader(path)), BUFFER_BYTES)
    whole = io.BytesIO(host.read_bytes(path))
    return io.BufferedReader(cast(io.RawIOBase, whole), BUFFER_BYTES)


def _open_writer(host: Host, path: PathLike, kind: str, is_both: bool) -> io.BufferedIOBase:
    if kind == "a":
        return _WrittenOnClose(lambda data: data and host.append(path, data), b"", False)
    if kind == "x":
        # Code that takes the file as a lock wants to know now; the write itself checks again.
        if host.exists(path):
            wire = host._path(path)
            raise AlreadyExists(f"`{wire}` already exists", path=wire)
        return _WrittenOnClose(
            lambda data: host.write_bytes(path, data, exclusive=True), b"", is_both
        )
    if kind == "w":
        return _WrittenOnClose(lambda data: host.write_bytes(path, data), b"", is_both)
    content = host.read_file(path)
    etag = content.etag if host.capabilities.etag else None

    def write_back(data: bytes) -> object:
        return data != content.data and host.write_bytes(path, data, if_match=etag)

    return _WrittenOnClose(write_back, content.data, is_both)


class _PartsIO(io.RawIOBase):
    """A file of which parts are read when they are needed.

    The first part is read at once, so that a file that is not there is found when it is opened.
    """

    def __init__(self, reader: PartReader) -> None:
        self._reader = reader
        self._position = 0
        first = reader.part(0, None)
        self._size = first.size
        self._part_start = 0
        self._part = first.data

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}
        if starts[whence] + offset < 0:
            raise ValueError("the position can't be negative")
        self._position = starts[whence] + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        start = self._position - self._part_start
        if not 0 <= start < len(self._part):
            if self._position >= self._size:
                return 0
            self._part = self._reader.part(self._position, None).data
            self._part_start, start = self._position, 0
        data = self._part[start : start + len(view)]
        view[: len(data)] = data
        self._position += len(data)
        return len(data)


class _WrittenOnClose(io.BytesIO):
    """Bytes that are handed to ``write`` when the file is closed."""

    def __init__(self, write: Callable[[bytes], object], content: bytes, is_both: bool) -> None:
        super().__init__(content)
        self._write = write
        self._is_both = is_both

    def readable(self) -> bool:
        return self._is_both

    def read(self, size: Optional[int] = -1, /) -> bytes:
        self._check_readable()
        return super().read(size)

    def read1(self, size: Optional[int] = -1, /) -> bytes:
        self._check_readable()
        return super().read1(size)

    def readline(self, size: Optional[int] = -1, /) -> bytes:
        self._check_readable()
        return super().readline(size)

    def close(self) -> None:
        if self.closed:
            return
        data = self.getvalue()
        # The file is closed even if the host refuses, as Python's own are.
        super().close()
        self._write(data)

    def _check_readable(self) -> None:
        if not self._is_both:
            raise io.UnsupportedOperation("not readable")


BUFFER_BYTES = 256 * 1024
