""":class:`Access`: the rules of a context, and what they say."""

from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional

from jig_tool._access_env import EnvRules
from jig_tool._access_errors import Denied, EnvAccessError, Invalid, NetAccessError
from jig_tool._access_fs import FsRules, Workspace, canonical_parts
from jig_tool._access_net import NetRules


class Access:
    """The rules of one call.

    A list that is absent or empty was not declared: then nothing but the borders of the workspace is
    checked.
    """

    def __init__(self, root: str, access: Optional[Mapping[str, Any]] = None) -> None:
        """``access`` is the member of that name in the context. Raises ``ValueError`` if its rules
        can't be used."""
        rules = access or {}
        self._workspace = Workspace(root)
        fs = _rules(rules, "fs")
        net = _rules(rules, "net")
        env = _rules(rules, "env")
        self._fs = FsRules(fs, self._workspace) if fs else None
        self._net = NetRules(net) if net else None
        self._env = EnvRules(env) if env else None

    @classmethod
    def of_context(cls, context: Mapping[str, Any]) -> "Access":
        """The rules of a context, as a tool gets it in JSON."""
        root = context.get("root")
        if not isinstance(root, str):
            raise ValueError("the context has no `root`")
        return cls(root, context.get("access"))

    def check_read(self, path: "os.PathLike[str] | str") -> str:
        """Before contents are read or entries listed: the absolute path to use."""
        return self._check("read", path)

    def check_create(self, path: "os.PathLike[str] | str") -> str:
        """Before a new file or directory is made."""
        return self._check("create", path)

    def check_update(self, path: "os.PathLike[str] | str") -> str:
        """Before something that exists is changed."""
        return self._check("update", path)

    def check_delete(self, path: "os.PathLike[str] | str") -> str:
        """Before something is removed or moved away."""
        return self._check("delete", path)

    def check_execute(self, path: "os.PathLike[str] | str") -> str:
        """Before a file is run."""
        return self._check("execute", path)

    def can_read(self, canonical: str) -> bool:
        """Whether a canonical path may be read."""
        return self._can("read", canonical)

    def can_create(self, canonical: str) -> bool:
        """Whether a canonical path may be made."""
        return self._can("create", canonical)

    def can_update(self, canonical: str) -> bool:
        """Whether a canonical path may be changed."""
        return self._can("update", canonical)

    def can_delete(self, canonical: str) -> bool:
        """Whether a canonical path may be removed."""
        return self._can("delete", canonical)

    def can_execute(self, canonical: str) -> bool:
        """Whether a canonical path may be run."""
        return self._can("execute", canonical)

    def check_net(self, url: str) -> None:
        """Before a URL is asked for, with ``GET`` if it is one of the web. Raises :class:`NetAccessError`."""
        self.check_request("GET", url)

    def check_request(self, method: str, url: str) -> None:
        """Before a URL is asked for with a method such as ``POST``. Raises :class:`NetAccessError`."""
        if self._net is not None:
            self._net.check(method, url)

    def can_reach(self, url: str) -> bool:
        """Whether a URL may be asked for."""
        try:
            self.check_net(url)
        except NetAccessError:
            return False
        return True

    def check_env(self, name: str) -> None:
        """Before a variable is read. Raises :class:`EnvAccessError`."""
        if self._env is not None and not self._env.allows(name):
            raise EnvAccessError(name, self._env.grants())

    def can_read_env(self, name: str) -> bool:
        """Whether a variable may be read."""
        return self._env is None or self._env.allows(name)

    def _check(self, capability: str, path: "os.PathLike[str] | str") -> str:
        written = os.fspath(path)
        if not isinstance(written, str):
            raise Invalid(str(written))
        parts = self._workspace.resolve(written)
        if self._fs is not None and not self._fs.allows(capability, parts):
            raise Denied(capability, "/".join(parts) or ".", self._fs.grants())
        return os.path.join(self._workspace.canonical_root, *parts)

    def _can(self, capability: str, canonical: str) -> bool:
        parts = canonical_parts(canonical)
        if parts is None:
            return False
        return self._fs is None or self._fs.allows(capability, parts)


def _rules(access: Mapping[str, Any], key: str) -> List[Mapping[str, Any]]:
    rules = access.get(key)
    if rules is None:
        return []
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise ValueError(f"`access.{key}` is not a list of rules")
    return rules
