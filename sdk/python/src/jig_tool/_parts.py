"""Reading a file in parts that each fit into a message."""

from __future__ import annotations

from typing import Callable, Optional

from jig_tool._errors import Stale, TooLarge
from jig_tool._replies import FileContent


class PartReader:
    """One version of a file, read in parts.

    ``read`` asks the host for a part, by offset and length. If the file changes in between, the
    next part is ``Stale``: what was read before does not belong to it.
    """

    def __init__(self, read: Callable[[int, int], FileContent], path: str, file_bytes: int) -> None:
        self._read = read
        self._path = path
        self._part_bytes = max(min(file_bytes, PART_BYTES), 1)
        self._version: Optional[FileContent] = None

    def read_all(self) -> FileContent:
        """The whole file."""
        return self.read_range(0, None)

    def read_range(self, offset: int, length: Optional[int]) -> FileContent:
        """The bytes from ``offset`` on, at most ``length`` of them."""
        part = self.part(offset, length)
        end = part.size if length is None else min(offset + length, part.size)
        if offset + len(part.data) >= end:
            return part
        data = bytearray(part.data)
        while offset + len(data) < end:
            part = self.part(offset + len(data), end - offset - len(data))
            if not part.data:
                raise self._stale()
            data += part.data
        return FileContent(bytes(data), part.size, part.etag)

    def part(self, offset: int, length: Optional[int]) -> FileContent:
        """As many of the bytes as fit into one message."""
        while True:
            wanted = self._part_bytes if length is None else min(length, self._part_bytes)
            try:
                part = self._read(offset, wanted)
            except TooLarge:
                # A part grows in its line when it is escaped or encoded.
                if wanted <= MIN_PART_BYTES:
                    raise
                self._part_bytes = max(wanted // 2, MIN_PART_BYTES)
                continue
            if self._version is None:
                self._version = part
            if (part.size, part.etag) != (self._version.size, self._version.etag):
                raise self._stale()
            return part

    def _stale(self) -> Stale:
        message = f"`{self._path}` changed while it was read"
        return Stale(message, path=self._path, retryable=True)


# How much is asked for at once. Base64 of it stays well below the usual limit on a line.
PART_BYTES = 4 * 1024 * 1024

# A host that can't send so much can't send files.
MIN_PART_BYTES = 4096
