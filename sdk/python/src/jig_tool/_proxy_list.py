"""The names in a directory, through a proxy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List

from jig_tool._proxy_connection import Connection
from jig_tool._proxy_errors import ProtocolError


@dataclass(frozen=True)
class Entry:
    """One entry of a directory."""

    name: str
    """Its name, without the directory."""
    kind: str
    """``file``, ``dir``, or ``other`` for what is neither."""


def list_dir(connection: Connection, path: str) -> List[Entry]:
    """All entries of a directory, however many answers they take."""
    entries: List[Entry] = []
    while True:
        params: Dict[str, Any] = {"path": path}
        if entries:
            params["after"] = entries[-1].name
        result = connection.call("list", params)
        some = result.get("entries")
        if not isinstance(some, list):
            raise ProtocolError("the answer to `list` has no `entries`")
        entries.extend(_entry(one) for one in some)
        if not some or result.get("more") is not True:
            return entries


def _entry(value: Any) -> Entry:
    name = value.get("name") if isinstance(value, dict) else None
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(name, str) or not isinstance(kind, str):
        raise ProtocolError("an entry of `list` has no `name` and `kind`")
    return Entry(name, kind if kind in ("file", "dir") else "other")
