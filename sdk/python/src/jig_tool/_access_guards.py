"""What no broad rule gives away: sensitive paths, and what configures jig, git, agents and editors."""

from __future__ import annotations

import fnmatch
import os
from typing import Callable, Dict, Iterator, NamedTuple, Optional, Tuple

from jig_tool._guard_table import LINES

Parts = Tuple[str, ...]


class Guard(NamedTuple):
    """The protection of a path: nothing changes it, or only a rule at least as deep."""

    is_never: bool
    depth: int


class Line(NamedTuple):
    """A line of the table of guards."""

    globs: "tuple[str, ...]"
    at_root: bool
    level: str
    only_itself: bool
    in_packages: bool

    def ends(self, parts: Parts) -> bool:
        """Whether a plain path ends with what the line is about."""
        above = len(parts) - len(self.globs)
        return (
            above >= 0
            and (not self.at_root or above == 0)
            and _match(self.globs, parts[above:])
            and (self.in_packages or "node_modules" not in parts[:above])
        )

    def below(self, parts: Parts) -> "Iterator[tuple[str, ...]]":
        """What of the line would lie below a plain path."""
        if not self.in_packages and "node_modules" in parts:
            return
        for count in range(1, min(len(self.globs), len(parts) + 1)):
            if self.at_root and count != len(parts):
                continue
            if _match(self.globs[:count], parts[len(parts) - count :]):
                yield self.globs[count:]


TABLE = tuple(
    Line(tuple(path.lstrip("/").split("/")), path.startswith("/"), level, itself, packages)
    for path, level, itself, packages in LINES
)
PROTECTING = tuple(line for line in TABLE if line.level != "sensitive")
SENSITIVE = tuple(line for line in TABLE if line.level == "sensitive")


class Guards:
    """The protected paths of a workspace, and what the links among them lead to."""

    def __init__(self, root: str, resolve: Callable[[str], Parts]) -> None:
        self._paths: Dict[Parts, bool] = {}
        git = os.path.join(root, ".git")
        if not os.path.islink(git) and not os.path.isdir(git):
            self._protect((".git",), False)
        for line in PROTECTING:
            if line.only_itself or any("*" in name for name in line.globs):
                continue
            is_never = line.level == "never"
            self._protect(line.globs, is_never)
            try:
                self._protect(resolve("/".join(line.globs)), is_never)
            except PermissionError:
                continue

    def _protect(self, parts: Parts, is_never: bool) -> None:
        self._paths[parts] = is_never or self._paths.get(parts, False)

    def strongest(self, parts: Parts) -> Optional[Guard]:
        """The strongest protection on the way to a path."""
        found: Optional[Guard] = None
        names = _plain(parts)
        for depth in range(len(parts) + 1):
            is_never = self._paths.get(parts[:depth])
            lines = [line for line in PROTECTING if not line.only_itself]
            levels = [line.level for line in lines if line.ends(names[:depth])]
            if levels:
                is_never = bool(is_never) or "never" in levels
            if is_never is not None and (found is None or found.is_never <= is_never):
                found = Guard(is_never, depth)
        return found

    def holds_protected(self, parts: Parts) -> bool:
        """Whether something protected lies below a path."""
        if any(len(path) > len(parts) and path[: len(parts)] == parts for path in self._paths):
            return True
        names = _plain(parts)
        lines = (line for line in PROTECTING if not line.only_itself)
        return any(True for line in lines for _ in line.below(names))


def is_guarded_itself(parts: Parts) -> bool:
    """Whether making or replacing the path, whatever lies below it, needs a rule that names it."""
    names = _plain(parts)
    return any(line.only_itself and line.ends(names) for line in PROTECTING)


def sensitive_depth(parts: Parts) -> int:
    """How many components of a path make up its deepest sensitive part; 0 if there is none."""
    names = _plain(parts)
    depths = range(len(parts), 0, -1)
    return next((n for n in depths if any(line.ends(names[:n]) for line in SENSITIVE)), 0)


def sensitive_below(parts: Parts) -> Iterator[Optional[Parts]]:
    """The sensitive paths that would lie below a path; ``None`` for one whose name is open."""
    names = _plain(parts)
    for line in SENSITIVE:
        for below in line.below(names):
            yield None if any("*" in name for name in below) else parts + below


def _match(globs: "tuple[str, ...]", names: Parts) -> bool:
    return all(fnmatch.fnmatchcase(name, glob) for glob, name in zip(globs, names))


def _plain(parts: Parts) -> Parts:
    """Names as the loosest file system compares them."""
    return tuple(_plain_name(name) for name in parts)


def _plain_name(name: str) -> str:
    if not name.isascii():
        name = "".join(c for c in name if not _is_ignored(ord(c)))
        for written, meant in FOLDED:
            name = name.replace(written, meant)
    return name.lower().rstrip(" .")


def _is_ignored(code: int) -> bool:
    """Whether file systems that fold case leave a character out of names."""
    return any(first <= code <= last for first, last in IGNORED)


FOLDED = (
    ("\u017f", "s"),
    ("\u00df", "ss"),
    ("\u1e9e", "ss"),
    ("\ufb00", "ff"),
    ("\ufb01", "fi"),
    ("\ufb02", "fl"),
    ("\ufb03", "ffi"),
    ("\ufb04", "ffl"),
    ("\ufb05", "st"),
    ("\ufb06", "st"),
)

IGNORED = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)
