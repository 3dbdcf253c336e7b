"""Rules on hosts and URLs."""

from __future__ import annotations

import ipaddress
import re
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple
from urllib.parse import unquote_to_bytes, urlsplit

from jig_tool._access_errors import NetAccessError

WEB = {"http": 80, "ws": 80, "https": 443, "wss": 443}
OTHERS = {
    "ftp": 21,
    "ssh": 22,
    "sftp": 22,
    "git": 9418,
    "ldap": 389,
    "ldaps": 636,
    "imaps": 993,
    "smtps": 465,
    "postgres": 5432,
    "postgresql": 5432,
    "mysql": 3306,
    "redis": 6379,
    "amqp": 5672,
    "nats": 4222,
}
PORTS = {**WEB, **OTHERS}


class Target(NamedTuple):
    """A URL in the form in which rules are compared with it. Users, queries and fragments play no part."""

    scheme: str
    host: str
    port: int
    segments: Tuple[str, ...]
    is_ambiguous: bool


class NetRule(NamedTuple):
    """One rule in normal form."""

    host: str
    scheme: Optional[str]
    port: Optional[int]
    segments: Tuple[str, ...]
    methods: Tuple[str, ...]
    allow: bool

    def speaks_of(self, host: str) -> bool:
        """Whether the rule is on this host: exactly, on all names below a domain, or on all names."""
        if not self.host.startswith("*"):
            return self.host == host
        if _is_address(host):
            return False
        if self.host == "*":
            return host != "localhost" and not host.endswith(".localhost")
        return host.endswith(self.host[1:])

    def matches(self, target: Target, method: str) -> bool:
        if not self.speaks_of(target.host) or self.scheme not in (None, target.scheme):
            return False
        if self.methods and not (target.scheme in WEB and method.upper() in self.methods):
            return False
        # A rule on a host alone opens the web, not ssh.
        known = WEB if self.scheme is None else PORTS
        port = known.get(target.scheme) if self.port is None else self.port
        return port == target.port and target.segments[: len(self.segments)] == self.segments

    def specificity(self) -> Tuple[float, int]:
        """An exact host before a domain, a longer domain before a shorter one, any before ``*``; then what is named."""
        host = len(self.host) if self.host.startswith("*") else float("inf")
        named = (self.scheme is not None) + (self.port is not None) + bool(self.methods)
        return host, named + len(self.segments)


class NetRules:
    """The most specific rule decides; of equal ones the last."""

    def __init__(self, rules: Sequence[Mapping[str, Any]]) -> None:
        self._rules = [_rule(rule) for rule in rules]

    def check(self, method: str, url: str) -> None:
        """Raises :class:`NetAccessError` unless the URL may be asked for with this method."""
        try:
            target = parse(url)
        except ValueError as error:
            raise NetAccessError(f"url is not valid: {url}") from error
        looks_at_paths = any(rule.segments and rule.speaks_of(target.host) for rule in self._rules)
        matching = [rule for rule in self._rules if rule.matches(target, method)]
        best = max(enumerate(matching), key=lambda one: (one[1].specificity(), one[0]), default=None)
        if best is None or not best[1].allow or (target.is_ambiguous and looks_at_paths):
            raise NetAccessError(
                f"access denied: connect to {shown(target.host, target.port)}",
                host=target.host,
                port=target.port,
                grants=self.grants(),
            )

    def grants(self) -> List[str]:
        """The hosts that some rule allows."""
        return [rule.host for rule in self._rules if rule.allow]


def parse(url: str) -> Target:
    """Reads a URL; ``ValueError`` if it is none."""
    # What browsers leave out or read as a slash is not worth guessing about here.
    if url != url.strip() or re.search(r"[\\\x00-\x20]", url):
        raise ValueError("a URL has no spaces and backslashes")
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    if not parts.hostname:
        raise ValueError("the URL names no host")
    port = parts.port if parts.port is not None else PORTS.get(scheme)
    if port is None:
        raise ValueError("the URL names no port, and its scheme has none")
    segments, is_ambiguous = _segments(_folded(parts.path))
    return Target(scheme, normal_host(parts.hostname), port, segments, is_ambiguous)


def normal_host(host: str) -> str:
    """The one form in which hosts are compared: ASCII, lower case, without brackets and a final dot."""
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if ":" in bare:
        return str(ipaddress.IPv6Address(bare))
    name = bare[:-1] if bare.endswith(".") else bare
    if not name or "*" in name:
        raise ValueError(f"`{host}` is not a host")
    if not name.isascii():
        name = name.encode("idna").decode("ascii")
    name = name.lower()
    if re.search(r"[^a-z0-9._~!$&'()+,;=-]", name) or ".." in name or name.startswith("."):
        raise ValueError(f"`{host}` is not a host")
    last = name.rsplit(".", 1)[-1]
    if last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last):
        # What ends with a number is an address; odd spellings of one are not worth guessing about.
        return str(ipaddress.IPv4Address(name))
    return name


def shown(host: str, port: int) -> str:
    """A host and a port as they stand in a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _rule(rule: Mapping[str, Any]) -> NetRule:
    host, scheme = rule.get("host"), rule.get("scheme")
    port, prefix = rule.get("port"), rule.get("path_prefix")
    if not isinstance(host, str):
        raise ValueError("a rule on hosts has no `host`")
    if scheme is not None:
        scheme = str(scheme).lower()
        if port is None and scheme not in PORTS:
            raise ValueError(f"scheme `{scheme}` has no known port")
    if port is not None and (not isinstance(port, int) or not 0 < port < 65536):
        raise ValueError(f"`{port}` is not a port")
    segments: Tuple[str, ...] = ()
    if prefix is not None:
        if not isinstance(prefix, str) or not prefix.startswith("/") or re.search("[?#]", prefix):
            raise ValueError(f"`path_prefix` `{prefix}` is not a plain path that begins with `/`")
        segments, is_ambiguous = _segments(_folded(prefix))
        if is_ambiguous:
            raise ValueError(f"`path_prefix` `{prefix}` is not a plain path that begins with `/`")
    methods = rule.get("methods")
    names = () if methods is None else _methods(methods, scheme)
    return NetRule(_pattern(host), scheme, port, segments, names, rule.get("allow") is True)


def _methods(methods: Any, scheme: Optional[str]) -> Tuple[str, ...]:
    if not isinstance(methods, list) or not methods or scheme not in (None, *WEB):
        raise ValueError("`methods` is not a list of methods of the web")
    for method in methods:
        odd = not isinstance(method, str) or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", method)
        if odd or method.upper() in ("CONNECT", "*"):
            raise ValueError(f"`{method}` is not a method that a request can have")
    return tuple(method.upper() for method in methods)


def _pattern(host: str) -> str:
    """The one form of a rule's host: a host, ``*.example.com`` or ``*``."""
    if host == "*":
        return host
    if not host.startswith("*."):
        return normal_host(host)
    domain = normal_host(host[2:])
    if _is_address(domain):
        raise ValueError(f"`{host}` is not a host")
    return f"*.{domain}"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _folded(path: str) -> str:
    """The path with its dot segments resolved, as whoever sends it does."""
    names: List[str] = []
    for name in path.split("/"):
        plain = re.sub("%2e", ".", name, flags=re.IGNORECASE)
        if plain == "..":
            names = names[:1] + names[1:-1]
        elif plain != ".":
            names.append(name)
    return "/".join(names)


def _segments(path: str) -> Tuple[Tuple[str, ...], bool]:
    """The decoded, non-empty segments, and whether servers may read them in another way."""
    is_ambiguous = False
    segments = []
    for segment in path.split("/"):
        raw = unquote_to_bytes(segment)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            is_ambiguous, text = True, raw.decode("utf-8", "replace")
        if not text:
            continue
        is_ambiguous = is_ambiguous or text in (".", "..") or bool(re.search(r"[/\\;\0%]", text))
        segments.append(text)
    return tuple(segments), is_ambiguous
