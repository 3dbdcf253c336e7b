"""Paths as the host takes them: relative to the workspace, and without ``..``."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Optional, Union

PathLike = Union[str, "os.PathLike[str]"]


def wire_path(path: PathLike, root: Optional[str] = None) -> str:
    """The path to send for ``path``: ``./src//a/../b/`` is ``src/b``.

    The host refuses every ``..``, also one that stays inside, so it is folded here, before any
    symbolic link is looked at. An absolute path below ``root`` becomes relative. What leaves the
    workspace is returned as it is: to refuse it, with its reason, is up to the host.
    """
    text = path.as_posix() if isinstance(path, PurePath) else os.fspath(path)
    relative = _below(text, root)
    if not relative or relative.startswith("/"):
        return text
    components = []
    for component in relative.split("/"):
        if component in ("", "."):
            continue
        if component != "..":
            components.append(component)
        elif components:
            components.pop()
        else:
            return text
    return "/".join(components) or "."


def _below(path: str, root: Optional[str]) -> str:
    if root is None or not root.startswith("/") or not path.startswith("/"):
        return path
    root = root.rstrip("/")
    if path.rstrip("/") == root:
        return "."
    if path.startswith(root + "/"):
        return path[len(root) :].lstrip("/") or "."
    return path
