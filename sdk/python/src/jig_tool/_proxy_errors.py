"""What can go wrong between a process and the proxy that serves its files.

Every error is an ``OSError``, because the files of a proxy are used by code that was written for
ordinary ones. Where Python has a narrower exception, such as ``FileNotFoundError``, the class is
also that.
"""

from __future__ import annotations

import errno
from typing import Dict, Optional, Type


class ProxyError(OSError):
    """The proxy did not do what was asked, or could not be asked.

    ``code`` is the protocol's, such as ``E_PERM``, and ``None`` for an error that did not come over
    the wire. ``message`` is for people: for a denial it says which rule decided, and what would
    allow it. ``filename`` is the path of a file that could not be opened.
    """

    _errno = errno.EIO

    def __init__(
        self, message: str, *, code: Optional[str] = None, path: Optional[str] = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.errno = self._errno
        self.strerror = message
        self.filename = path

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, code={self.code!r})"


class InvalidArgument(ProxyError):
    """``E_ARG``: a parameter is missing or can't be what it is."""

    _errno = errno.EINVAL


class NotFound(ProxyError, FileNotFoundError):
    """``E_NOENT``: there is no such file."""

    _errno = errno.ENOENT


class AccessDenied(ProxyError, PermissionError):
    """``E_PERM``: a rule says no, or the file was opened for something else."""

    _errno = errno.EACCES


class Failed(ProxyError):
    """``E_IO``: reading or writing failed, or the provider of an LLM did."""


class HandleClosed(ProxyError):
    """``E_CLOSED``: the file is not open, or not this process's."""

    _errno = errno.EBADF


class Unsupported(ProxyError):
    """``E_UNSUPPORTED``: this proxy does not do that, such as an LLM call without an LLM."""

    _errno = errno.EOPNOTSUPP


class LimitExceeded(ProxyError):
    """``E_RANGE``: a limit of the proxy, such as on open files, is reached."""

    _errno = errno.ERANGE


class QuotaExceeded(LimitExceeded):
    """What is left of the quota does not pay for the LLM call: nothing was sent."""

    _errno = errno.EDQUOT


class ProtocolError(ProxyError):
    """The other side sent something that is not of the protocol. The connection is given up."""

    _errno = errno.EPROTO


class Disconnected(ProxyError, ConnectionError):
    """There is no connection to a proxy, or no longer."""

    _errno = errno.EPIPE


def error_from_wire(code: str, message: str, path: Optional[str] = None) -> ProxyError:
    """The exception for an error of the proxy; a code that we don't know is a plain one."""
    return _CLASS_BY_CODE.get(code, ProxyError)(message, code=code, path=path)


_CLASS_BY_CODE: Dict[str, Type[ProxyError]] = {
    "E_ARG": InvalidArgument,
    "E_NOENT": NotFound,
    "E_PERM": AccessDenied,
    "E_IO": Failed,
    "E_CLOSED": HandleClosed,
    "E_UNSUPPORTED": Unsupported,
    "E_RANGE": LimitExceeded,
}
