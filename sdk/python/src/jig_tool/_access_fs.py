"""Rules on files, and the steps from a path as it was written to the one that is judged."""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from jig_tool import _access_guards as guards
from jig_tool._access_errors import Escape, FsAccessError, Invalid, Outside

Parts = Tuple[str, ...]
"""The components of a path below the root; none of them is the root itself."""

CAPABILITIES = ("read", "create", "update", "delete", "execute")


class Workspace:
    """A workspace on disk, known by the root as it is given and by its canonical path."""

    def __init__(self, root: str) -> None:
        self.canonical_root = os.path.realpath(root)
        self._roots = [root, self.canonical_root]

    def of_rule(self, written: str) -> Parts:
        """The components of the path of a rule. It is canonical already: no link on it is followed."""
        return tuple(self._normalize(written))

    def resolve(self, written: str) -> Parts:
        """The canonical components of a path. Raises an :class:`FsAccessError`."""
        return self._follow(self._normalize(written), written)

    def _normalize(self, written: str) -> List[str]:
        if not written or "\0" in written:
            raise Invalid(written)
        text = written
        if text.startswith("/"):
            below = self._below(text)
            if below is None:
                raise Outside(written)
            text = below
        parts: List[str] = []
        for name in text.split("/"):
            if name in ("", "."):
                continue
            if name != "..":
                parts.append(name)
            elif parts:
                parts.pop()
            else:
                raise Escape(written)
        return parts

    def _below(self, absolute: str) -> Optional[str]:
        """What of an absolute path is below the root; ``None`` if it is not."""
        names = _names(absolute)
        for root in self._roots:
            above = _names(root)
            if root.startswith("/") and names[: len(above)] == above:
                return "/".join(names[len(above) :]) or "."
        return None

    def _follow(self, start: Sequence[str], written: str) -> Parts:
        # A stack, the next component at its end. Those that came out of a link are marked: a link must
        # lead somewhere, while what the caller wrote need not exist yet.
        pending = [(name, False) for name in reversed(start)]
        done: List[str] = []
        links = 0
        while pending:
            name, from_link = pending.pop()
            if name == "..":
                if not done:
                    raise Escape(written)
                done.pop()
                continue
            here = done + [name]
            kind, target = self._look(here, written)
            if kind == "dir":
                done = here
            elif kind == "link":
                links += 1
                if links > MAX_LINKS:
                    raise Escape(written)
                if target.startswith("/"):
                    below = self._below(target)
                    if below is None:
                        raise Escape(written)
                    done, target = [], below
                names = [part for part in target.split("/") if part not in ("", ".")]
                pending.extend((part, True) for part in reversed(names))
                if len(pending) > MAX_STEPS:
                    raise Escape(written)
            elif kind == "missing" and from_link:
                raise Escape(written)
            elif kind == "file" and pending and pending[-1][1]:
                raise Escape(written)
            else:
                return tuple(here + [name for name, _ in reversed(pending)])
        return tuple(done)

    def _look(self, parts: Iterable[str], written: str) -> Tuple[str, str]:
        path = os.path.join(self.canonical_root, *parts)
        try:
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                return "link", os.readlink(path)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return "missing", ""
            raise FsAccessError(f"path cannot be resolved: {written}", written) from error
        return ("dir", "") if stat.S_ISDIR(mode) else ("file", "")


class FsRules:
    """Rules on files: the most specific one for a path decides, of several at one path the last."""

    def __init__(self, rules: Sequence[Mapping[str, Any]], workspace: Workspace) -> None:
        self._by_path: Dict[Parts, Dict[str, bool]] = {}
        self._order: List[Parts] = []
        for rule in rules:
            path = rule.get("path", rule.get("lexical_path"))
            if not isinstance(path, str):
                raise ValueError("a rule on files has no `path`")
            try:
                parts = workspace.of_rule(path)
            except FsAccessError as error:
                raise ValueError(f"the rule on `{path}` can't be used: {error}") from error
            self._by_path[parts] = granted(rule)
            self._order.append(parts)
        self._guards = guards.Guards(workspace.canonical_root, workspace.resolve)

    def grants(self) -> List[str]:
        """The paths on which something is granted."""
        return [
            "/".join(parts) or "."
            for parts in self._order
            if any(self._by_path[parts].values())
        ]

    def allows(self, capability: str, parts: Parts) -> bool:
        if not self._allows_itself(capability, parts):
            return False
        return capability != "delete" or not self._is_pinned(parts)

    def _allows_itself(self, capability: str, parts: Parts) -> bool:
        is_change = capability in ("create", "update", "delete")
        guard = self._guards.strongest(parts) if is_change else None
        if guard is not None and guard.is_never:
            return False
        rule = self._winner(parts)
        if rule is None or not self._by_path[rule][capability]:
            return False
        if len(rule) < guards.sensitive_depth(parts):
            return False
        if guard is not None and len(rule) < guard.depth:
            return False
        # A `.git` makes a repository of a folder; as a file it names one elsewhere.
        if capability in ("create", "update") and guards.is_guarded_itself(parts):
            return parts in self._by_path
        return True

    def _winner(self, parts: Parts) -> Optional[Parts]:
        for depth in range(len(parts), -1, -1):
            if parts[:depth] in self._by_path:
                return parts[:depth]
        return None

    def _is_pinned(self, parts: Parts) -> bool:
        """Whether something below is restricted, and would be reached under another name."""
        if not parts:
            below_rules = [rule for rule in self._by_path if rule]
        else:
            below_rules = [
                rule
                for rule in self._by_path
                if len(rule) > len(parts) and rule[: len(parts)] == parts
            ]
        if any(not self._by_path[rule]["delete"] for rule in below_rules):
            return True
        if self._guards.holds_protected(parts):
            return True
        return any(
            below is None or below not in self._by_path for below in guards.sensitive_below(parts)
        )


def granted(rule: Mapping[str, Any]) -> Dict[str, bool]:
    """What a rule grants: ``write`` stands for create, update and delete, each of which says otherwise
    if it is there."""

    def flag(name: str, default: bool) -> bool:
        value = rule.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise ValueError(f"`{name}` of a rule on files is not true or false")
        return value

    write = flag("write", False)
    return {
        name: flag(name, write if name in ("create", "update", "delete") else False)
        for name in CAPABILITIES
    }


def canonical_parts(path: str) -> Optional[Parts]:
    """The components of a canonical path; ``None`` if it is not one."""
    if path == ".":
        return ()
    parts = tuple(path.split("/"))
    if any(name in ("", ".", "..") for name in parts) or "\0" in path:
        return None
    return parts


def _names(path: str) -> List[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


MAX_LINKS = 40
"""As many links as Linux follows in one path."""

MAX_STEPS = 8192
"""Forty links must not make endless paths."""
