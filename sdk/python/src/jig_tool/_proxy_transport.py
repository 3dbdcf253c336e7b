"""The descriptors of a connection, and how they are found: a socket, or a pair of pipes."""

from __future__ import annotations

import os
import select
import socket
import stat
from typing import Optional, Tuple, Union

from jig_tool._proxy_errors import Disconnected

Descriptors = Union[int, Tuple[int, int], "socket.socket"]


class Transport:
    """Bytes to and from the proxy.

    The descriptors stay blocking, because another process may share them. Still no write blocks:
    whoever writes must be able to read at the same time.
    """

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._socket: Optional[socket.socket] = None
        self._read_fd = read_fd
        self._write_fd = write_fd
        for descriptor in (read_fd, write_fd):
            # A program started from here would speak in our name, and keep the connection open.
            os.set_inheritable(descriptor, False)
        if read_fd == write_fd:
            self._socket = socket.socket(fileno=read_fd)
            self._socket.settimeout(None)

    def read(self) -> bytes:
        """What has come, or else what comes next; nothing at the end."""
        return os.read(self._read_fd, READ_BYTES)

    def write_some(self, data: memoryview) -> int:
        """Writes as much as goes without waiting, and says how much that is."""
        if self._socket is not None:
            try:
                return self._socket.send(data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return 0
        # A pipe with room at all has room for that many bytes.
        if not _poll(self._write_fd, select.POLLOUT, None, 0)[0]:
            return 0
        return os.write(self._write_fd, data[: select.PIPE_BUF])

    def wait(self, *, reads: bool, timeout: Optional[float]) -> bool:
        """Until something can be written, or, with ``reads``, read; whether it can be read."""
        read_fd = self._read_fd if reads else None
        return _poll(self._write_fd, select.POLLOUT, read_fd, timeout)[1]

    def shut_down(self) -> None:
        """Ends the conversation. The numbers stay taken, since a thread may still read from one."""
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It has ended already.

    def close(self) -> None:
        """Gives the descriptors back."""
        if self._socket is not None:
            self._socket.close()
            return
        for descriptor in {self._read_fd, self._write_fd}:
            try:
                os.close(descriptor)
            except OSError:
                pass  # It was closed before.
        self._read_fd = self._write_fd = -1


def inherited(variable: Optional[str]) -> Transport:
    """The connection that the parent process left here, as the variable says, or else on 3."""
    texts = (variable or str(DESCRIPTOR)).split(",")
    numbers = [int(text) for text in texts if text.isascii() and text.isdecimal()]
    # The standard streams are never the connection: the rest of the program uses them.
    if len(numbers) != len(texts) or len(numbers) > 2 or min(numbers) <= 2:
        raise Disconnected(f"{VARIABLE} must be a descriptor, or two as `r,w`; it is {variable!r}")
    for number in numbers:
        # What this process opened itself is not inheritable, and somebody uses it.
        if _kind(number) and not os.get_inheritable(number):
            raise Disconnected(
                f"no proxy: descriptor {number} was opened by this process, not left by a parent"
            )
    read_fd, write_fd = numbers[0], numbers[-1]
    _check_kinds(read_fd, write_fd)
    _take_alone(read_fd)
    return Transport(read_fd, write_fd)


def _take_alone(descriptor: int) -> None:
    """Refuses a connection that another process is using, which a shell may have handed to both.

    Each would take the answers of the other. The lock ends with this process.
    """
    import fcntl  # Not on Windows, where the module still can be imported.

    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        raise Disconnected(f"descriptor {descriptor} is in use by another process") from None
    except OSError:
        pass  # Not everything that can be a connection can be locked.


def of_descriptors(descriptors: Descriptors) -> Transport:
    """A connection over a stream socket, or over one descriptor to read and one to write."""
    if isinstance(descriptors, socket.socket):
        descriptors = descriptors.detach()
    if isinstance(descriptors, int):
        descriptors = (descriptors, descriptors)
    read_fd, write_fd = descriptors
    _check_kinds(read_fd, write_fd)
    return Transport(read_fd, write_fd)


def _check_kinds(read_fd: int, write_fd: int) -> None:
    if read_fd == write_fd:
        if not _is_stream_socket(read_fd):
            raise Disconnected(
                f"no proxy: descriptor {read_fd} is not a socket, as `jig proxy` leaves one"
            )
        return
    for descriptor in (read_fd, write_fd):
        if not _is_pipe(descriptor) and not _is_stream_socket(descriptor):
            raise Disconnected(f"no proxy: descriptor {descriptor} is neither a pipe nor a socket")


def _kind(descriptor: int) -> int:
    """What a descriptor is, as :mod:`stat` has it; 0 if it is not open."""
    try:
        return stat.S_IFMT(os.fstat(descriptor).st_mode)
    except OSError:
        return 0


def _is_pipe(descriptor: int) -> bool:
    return _kind(descriptor) == stat.S_IFIFO


def _is_stream_socket(descriptor: int) -> bool:
    if _kind(descriptor) != stat.S_IFSOCK:
        return False
    probe = socket.socket(fileno=os.dup(descriptor))
    with probe:
        return probe.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_STREAM


def _poll(
    write_fd: int, events: int, read_fd: Optional[int], timeout: Optional[float]
) -> Tuple[bool, bool]:
    """Whether something can be written, and whether something can be read."""
    poll = select.poll()
    if read_fd == write_fd:
        poll.register(write_fd, events | select.POLLIN)
    else:
        poll.register(write_fd, events)
        if read_fd is not None:
            poll.register(read_fd, select.POLLIN)
    found = dict(poll.poll(None if timeout is None else timeout * 1000))
    ended = select.POLLERR | select.POLLHUP | select.POLLNVAL
    can_write = bool(found.get(write_fd, 0) & (events | ended))
    can_read = read_fd is not None and bool(found.get(read_fd, 0) & (select.POLLIN | ended))
    return can_write, can_read


DESCRIPTOR = 3
"""Where a proxy leaves the connection, unless the variable says otherwise."""

VARIABLE = "JIG_PROXY_FD"

READ_BYTES = 256 * 1024
