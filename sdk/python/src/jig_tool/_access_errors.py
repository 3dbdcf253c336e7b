"""Why a tool may not do something: one type for files, one for hosts, one for variables."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple


class FsAccessError(PermissionError):
    """A tool may not use a path: :class:`Outside`, :class:`Escape`, :class:`Denied` or :class:`Invalid`."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path
        """The path as it was written; for :class:`Denied` relative to the workspace."""


class Outside(FsAccessError):
    """The path is absolute and not under the root of the workspace."""

    def __init__(self, path: str) -> None:
        super().__init__(f"path is outside the workspace: {path}", path)


class Escape(FsAccessError):
    """The path leaves the workspace by ``..`` or by a symbolic link, or a link on it leads to nothing."""

    def __init__(self, path: str) -> None:
        super().__init__(f"path escapes the workspace: {path}", path)


class Invalid(FsAccessError):
    """The text is no path."""

    def __init__(self, path: str) -> None:
        super().__init__(f"path is not valid: {path}", path)


class Denied(FsAccessError):
    """No rule grants the capability."""

    def __init__(self, capability: str, target: str, grants: Sequence[str]) -> None:
        super().__init__(f"access denied: {capability} on {target}", target)
        self.capability = capability
        """What was asked for: ``read``, ``create``, ``update``, ``delete`` or ``execute``."""
        self.grants: Tuple[str, ...] = tuple(grants)
        """The paths on which something is granted."""


class NetAccessError(PermissionError):
    """A tool may not reach a URL, or the text is none."""

    def __init__(
        self,
        message: str,
        *,
        host: Optional[str] = None,
        port: Optional[int] = None,
        grants: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.host = host
        """The host in ASCII, lower case; ``None`` if the text is no URL."""
        self.port = port
        self.grants: Tuple[str, ...] = tuple(grants)
        """The hosts that some rule allows."""


class EnvAccessError(PermissionError):
    """A tool may not read a variable."""

    def __init__(self, name: str, grants: Sequence[str]) -> None:
        super().__init__(f"access denied: read of variable {name}")
        self.name = name
        """The name of the variable."""
        self.grants: Tuple[str, ...] = tuple(grants)
        """The names and prefixes that some rule lets the tool read."""
