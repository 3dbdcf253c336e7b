"""Checks that a tool makes before it touches files, hosts and variables by itself.

A tool of the runtime ``stdio`` gets its rules in its context. The host enforces them in any case; a
tool that asks first can say clearly what it was not allowed to do::

    from jig_tool import access

    rules = access.Access.of_context(context)   # the JSON of the context
    path = rules.check_read(arguments["path"])  # absolute, with every link resolved
    text = open(path).read()

``check_…`` takes a path as it was written and follows the same steps as the host: relative paths begin
at the workspace, ``..`` is folded, every link is resolved, and the path that comes out is judged.
``can_…`` takes a path that is canonical already: relative to the workspace, without ``..`` and links.

Files, hosts and variables have errors of their own, :class:`FsAccessError`, :class:`NetAccessError` and
:class:`EnvAccessError`.
"""

from jig_tool._access import Access
from jig_tool._access_errors import (
    Denied,
    EnvAccessError,
    Escape,
    FsAccessError,
    Invalid,
    NetAccessError,
    Outside,
)

__all__ = [
    "Access",
    "Denied",
    "EnvAccessError",
    "Escape",
    "FsAccessError",
    "Invalid",
    "NetAccessError",
    "Outside",
]
