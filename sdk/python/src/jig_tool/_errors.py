"""What can go wrong between a tool and its host.

Programs tell errors apart by their class, or by ``kind`` where one class has several. Where Python
has an exception for the same thing, such as ``FileNotFoundError``, the class is also one of those,
so that code written for ordinary files works unchanged.
"""

from __future__ import annotations

import errno
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Type


class HostError(Exception):
    """The host did not do what was asked, or could not be asked.

    ``message`` is for people and may change. ``kind`` is for programs, such as ``denied_by_rule``;
    ``code`` is the number of JSON-RPC, 0 for an error that did not come over the wire. ``path`` is
    what it is about, ``rule`` the rule that decided, ``hint`` what to do about it. A denial also has
    ``operation`` and ``target``, what was wanted and on what, and ``grants``, what is granted instead.
    ``retryable`` says whether the same request may succeed later with nothing changed.
    """

    _errno: Optional[int] = None
    _kind = "internal"

    def __init__(
        self,
        message: str,
        *,
        kind: Optional[str] = None,
        code: int = 0,
        path: Optional[str] = None,
        operation: Optional[str] = None,
        target: Optional[str] = None,
        rule: Optional[str] = None,
        grants: Sequence[str] = (),
        hint: Optional[str] = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = self._kind if kind is None else kind
        self.code = code
        self.path = path
        self.operation = operation
        self.target = target
        self.rule = rule
        self.grants: Tuple[str, ...] = tuple(grants)
        self.hint = hint
        self.retryable = retryable
        _complete(self, self._errno, message, path)

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, kind={self.kind!r})"


def _complete(error: Exception, number: Optional[int], message: str, path: Optional[str]) -> None:
    """Gives an error that is also one of Python's what code that catches those looks at."""
    if isinstance(error, OSError):
        error.errno, error.strerror, error.filename = number, message, path


class InvalidRequest(HostError):
    """The host could not read the request."""

    _kind = "invalid_request"


class MethodNotFound(HostError):
    """The host has no such method: it is older than this package."""

    _kind = "method_not_found"


class InvalidParams(HostError):
    """A parameter is missing, malformed or does not fit what is there."""

    _kind = "invalid_params"


class IsDirectory(InvalidParams, IsADirectoryError):
    """A directory where a file is needed."""

    _errno = errno.EISDIR
    _kind = "is_dir"


class NotDirectory(InvalidParams, NotADirectoryError):
    """A file where a directory is needed."""

    _errno = errno.ENOTDIR
    _kind = "not_dir"


class NoMatch(InvalidParams):
    """A patch replaces text that the file does not hold."""

    _kind = "no_match"


class Ambiguous(InvalidParams):
    """A patch replaces text that the file holds more than once."""

    _kind = "ambiguous"


class UnknownProcess(InvalidParams):
    """The tool has started no program of this number, or has stopped it."""

    _kind = "unknown_process"


class ProcessEnded(InvalidParams):
    """Input for a program that has ended."""

    _kind = "process_ended"


class InternalError(HostError):
    """The host failed."""

    _kind = "internal"


class AccessDenied(HostError, PermissionError):
    """The policy, or someone who was asked, says no.

    ``kind`` says why: ``denied_by_rule``, ``uncovered``, ``approval_denied``,
    ``approval_unavailable``, ``approval_timeout``, ``escape``, ``protected`` or ``sensitive``.
    """

    _errno = errno.EACCES
    _kind = "uncovered"


class NotFound(HostError, FileNotFoundError):
    """There is no such file or resource."""

    _errno = errno.ENOENT
    _kind = "not_found"


class AlreadyExists(HostError, FileExistsError):
    """There is something where something new was to be."""

    _errno = errno.EEXIST
    _kind = "already_exists"


class Stale(HostError):
    """The file is not the version that the request is about: somebody else changed it."""

    _kind = "stale"


class Timeout(HostError, TimeoutError):
    """It took too long, for the host or for :attr:`jig_tool.vfs.Host.timeout`."""

    _errno = errno.ETIMEDOUT
    _kind = "timeout"


class Cancelled(HostError):
    """The request was given up, or the host told the tool to end.

    In that case every later request is answered with it, too: what a tool still does must not need
    the host.
    """

    _kind = "cancelled"


class TooLarge(HostError):
    """The content, or the line that would hold it, exceeds a limit."""

    _kind = "too_large"


class Unsupported(HostError):
    """The tool asked for an addition to the protocol that this host does not offer."""

    _kind = "unsupported"


class ProtocolError(HostError):
    """The host sent something that is not of the protocol."""

    _kind = "protocol"


class Disconnected(HostError, ConnectionError):
    """The host has closed the connection."""

    _errno = errno.EPIPE
    _kind = "disconnected"


def error_from_wire(error: Mapping[str, Any]) -> HostError:
    """The exception for the ``error`` of a response.

    Only the code must be there. ``data`` of another form than ours is ignored as a whole, and a
    kind that we don't know is kept, with the class of its code.
    """
    code = error.get("code")
    if not isinstance(code, int) or isinstance(code, bool):
        raise ProtocolError("the host's error has no `code`")
    message = error.get("message")
    data = _data(error.get("data"))
    kind = data.get("kind")
    known = _CLASS_BY_KIND.get(kind) if kind is not None else None
    plainest = _CLASS_BY_CODE.get(code, InternalError)
    retryable = data.get("retryable")
    return (known or plainest)(
        message if isinstance(message, str) else "",
        kind=kind,
        code=code,
        path=data.get("path"),
        operation=data.get("operation"),
        target=data.get("target"),
        rule=data.get("rule"),
        grants=data.get("grants") or (),
        hint=data.get("hint"),
        retryable=(kind or plainest._kind) in _RETRYABLE if retryable is None else retryable,
    )


def _data(data: object) -> Dict[str, Any]:
    if not isinstance(data, dict):
        return {}
    texts = ("kind", "path", "operation", "target", "rule", "hint")
    are_texts = all(data.get(key) is None or isinstance(data[key], str) for key in texts)
    is_flag = isinstance(data.get("retryable"), (bool, type(None)))
    grants = data.get("grants")
    are_grants = grants is None or (
        isinstance(grants, list) and all(isinstance(grant, str) for grant in grants)
    )
    return data if are_texts and is_flag and are_grants else {}


_CLASS_BY_KIND: Dict[str, Type[HostError]] = {
    "invalid_request": InvalidRequest,
    # What a tool can do about it is the same as for content over the limit: send less at once.
    "line_too_long": TooLarge,
    "method_not_found": MethodNotFound,
    "invalid_params": InvalidParams,
    "is_dir": IsDirectory,
    "not_dir": NotDirectory,
    "no_match": NoMatch,
    "ambiguous": Ambiguous,
    "unknown_process": UnknownProcess,
    "process_ended": ProcessEnded,
    "internal": InternalError,
    "denied_by_rule": AccessDenied,
    "uncovered": AccessDenied,
    "approval_denied": AccessDenied,
    "approval_unavailable": AccessDenied,
    "approval_timeout": AccessDenied,
    "escape": AccessDenied,
    "protected": AccessDenied,
    "sensitive": AccessDenied,
    "not_found": NotFound,
    "already_exists": AlreadyExists,
    "stale": Stale,
    "timeout": Timeout,
    "cancelled": Cancelled,
    "too_large": TooLarge,
}

_CLASS_BY_CODE: Dict[int, Type[HostError]] = {
    -32700: InvalidRequest,
    -32600: InvalidRequest,
    -32601: MethodNotFound,
    -32602: InvalidParams,
    -32603: InternalError,
    -32001: AccessDenied,
    -32002: NotFound,
    -32003: AlreadyExists,
    -32004: Timeout,
    -32005: Cancelled,
    -32006: TooLarge,
}

_RETRYABLE = frozenset({"approval_timeout", "timeout"})
