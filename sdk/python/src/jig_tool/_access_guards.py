"""What no broad rule gives away: sensitive paths, and what configures jig, git, agents and editors."""

from __future__ import annotations

import fnmatch
import os
from typing import Callable, Dict, Iterator, NamedTuple, Optional, Tuple

Parts = Tuple[str, ...]


class Guard(NamedTuple):
    """The protection of a path: nothing changes it, or only a rule at least as deep."""

    is_never: bool
    depth: int


class Guards:
    """The protected paths of a workspace, and what the links among them lead to."""

    def __init__(self, root: str, resolve: Callable[[str], Parts]) -> None:
        self._paths: Dict[Parts, bool] = {}
        for path in NEVER:
            self._protect(tuple(path.split("/")), True)
        for path in NAMED:
            self._protect(tuple(path.split("/")), False)
        git = os.path.join(root, ".git")
        if not os.path.islink(git) and not os.path.isdir(git):
            self._protect((".git",), False)
        for path in NEVER + NAMED:
            try:
                parts = resolve(path)
            except PermissionError:
                continue
            self._protect(parts, path in NEVER)

    def _protect(self, parts: Parts, is_never: bool) -> None:
        self._paths[parts] = is_never or self._paths.get(parts, False)

    def strongest(self, capability: str, parts: Parts) -> Optional[Guard]:
        """The strongest protection on the way to a path."""
        found: Optional[Guard] = None
        for depth in range(len(parts) + 1):
            is_never = self._paths.get(parts[:depth])
            if is_never is not None and (found is None or found.is_never <= is_never):
                found = Guard(is_never, depth)
        depth = _obeyed_depth(capability, parts)
        if depth and (found is None or found < Guard(False, depth)):
            found = Guard(False, depth)
        return found

    def holds_protected(self, parts: Parts) -> bool:
        """Whether something protected lies below a path."""
        if any(len(path) > len(parts) and path[: len(parts)] == parts for path in self._paths):
            return True
        return (
            parts[-1:] == (".git",)
            or parts[-2:] == (".git", "worktrees")
            or (len(parts) > 2 and parts[-3:-1] == (".git", "worktrees"))
        )


def _obeyed_depth(capability: str, parts: Parts) -> int:
    """How many components make up something that git obeys in a repository, wherever it lies."""
    deepest = 0
    for above, name in enumerate(parts):
        rest = parts[above + 1 :]
        if name != ".git" or not rest:
            continue
        if rest[0] in ("config", "config.worktree", "commondir", "modules"):
            deepest = max(deepest, above + 2)
        elif (
            rest[0] == "worktrees"
            and (above > 0 or capability != "create")
            and len(rest) > 2
            and rest[2] in ("commondir", "config.worktree")
        ):
            deepest = max(deepest, above + 4)
    return deepest


def sensitive_depth(parts: Parts) -> int:
    """How many components of a path make up its deepest sensitive part; 0 if there is none."""
    deepest = 0
    for start in range(len(parts)):
        for pattern in SENSITIVE:
            globs = pattern.split("/")
            names = parts[start : start + len(globs)]
            if len(names) == len(globs) and _match(globs, names):
                deepest = max(deepest, start + len(globs))
    return deepest


def sensitive_below(parts: Parts) -> Iterator[Optional[Parts]]:
    """The sensitive paths that would lie below a path; ``None`` for one whose name is open."""
    for pattern in SENSITIVE:
        globs = pattern.split("/")
        for count in range(1, min(len(globs), len(parts) + 1)):
            if _match(globs[:count], parts[len(parts) - count :]):
                below = tuple(globs[count:])
                yield None if any("*" in name for name in below) else parts + below


def _match(globs: "list[str]", names: Parts) -> bool:
    return all(fnmatch.fnmatchcase(name, glob) for glob, name in zip(globs, names))


NEVER = ("jig.toml", ".jig/config.toml", ".jp/config.toml")
"""Configuration that jig loads: nothing lets a tool change it."""

NAMED = (
    ".jig",
    ".jp",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules",
    ".mcp.json",
    ".claude",
    ".codex",
    ".cursor",
    ".vscode",
    ".zed",
)
"""What can name programs to run: only a rule that names it lets a tool change it."""

SENSITIVE = (
    ".env*",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".kube",
    ".docker/config.json",
    ".netrc",
    ".git-credentials",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".git/hooks",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".config/fish",
)
"""Paths at any depth that only a rule which names them covers."""
