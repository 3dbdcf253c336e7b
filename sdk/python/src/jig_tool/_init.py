"""What a tool is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, FrozenSet, List, Optional

from jig_tool._errors import ProtocolError
from jig_tool._fields import Fields


@dataclass
class ToolInput:
    """The call that the tool is to do."""

    name: str
    """The name of the tool."""
    arguments: Dict[str, Any] = field(default_factory=dict)
    """The arguments of the call."""
    answers: Dict[str, Any] = field(default_factory=dict)
    """Answers to questions, by the id of the question: those known before the call, then those
    that :meth:`jig_tool.vfs.Host.ask` was given."""
    options: Dict[str, Any] = field(default_factory=dict)
    """The options of the tool, from the user's configuration."""


@dataclass(frozen=True)
class Context:
    """Where the tool works, why it was called, and what it may do."""

    root: str
    """The root of the workspace, as the tool sees it."""
    action: str
    """``run``, or ``format_arguments``: show the arguments to a person, and do nothing."""
    access: Optional[Dict[str, Any]]
    """The rules on the tool, as in ``jig.toml``; ``None`` if it was not told."""
    workspace_id: str
    """The id of the workspace."""
    conversation_id: str
    """The id of the conversation."""


@dataclass(frozen=True)
class Limits:
    """What the host holds the tool to. Times are in seconds."""

    message_bytes: int = 16 * 1024 * 1024
    """The bytes of one line."""
    file_bytes: int = 10_000_000
    """The bytes of file content in one message."""
    silence: float = 60.0
    """How long a tool may be silent before it counts as hung."""
    response: float = 30.0
    """How long a tool waits for an answer before it may give up the request."""
    cancel_grace: float = 5.0
    """How long a cancelled tool has to end."""


@dataclass(frozen=True)
class Capabilities:
    """What goes beyond the plain protocol, and both sides want."""

    pending: bool = False
    """The host says when an answer waits for a person."""
    pages: bool = False
    """Directories are listed in parts."""
    ranges: bool = False
    """Files are read in parts."""
    etag: bool = False
    """Answers name the version of a file, and changes take ``if_match``."""
    blobs: bool = False
    """Content may follow a line as raw bytes."""

    def names(self) -> List[str]:
        """The names of those that are there."""
        return [name for name, is_there in vars(self).items() if is_there]


@dataclass(frozen=True)
class Init:
    """The params of ``init``."""

    tool: ToolInput
    protocol_version: str
    wanted_version: Optional[str]
    methods: Optional[FrozenSet[str]]
    limits: Limits
    offered: Capabilities
    context: Optional[Context]
    stateful: bool


def read_init(params: object) -> Init:
    """Reads the params of ``init``. Fields beyond the plain protocol may be absent."""
    fields = Fields("`init` of the host", params)
    tool = fields.optional_object("tool")
    if tool is None:
        raise fields.unexpected("tool", "an object")
    version = fields.text("protocol_version")
    methods = fields.texts("methods")
    return Init(
        tool=ToolInput(
            name=tool.text("name"),
            arguments=tool.mapping("arguments"),
            answers=tool.mapping("answers"),
            options=tool.mapping("options"),
        ),
        protocol_version=version,
        wanted_version=_wanted_version(version, fields.texts("supported") or []),
        methods=None if methods is None else frozenset(methods),
        limits=_read_limits(fields.optional_object("limits")),
        offered=_read_capabilities(fields.optional_object("capabilities")),
        context=_read_context(fields.optional_object("context")),
        stateful=fields.flag("stateful", False),
    )


def _wanted_version(given: str, supported: List[str]) -> Optional[str]:
    """The version to ask for, if the given one is not ours. Another major version may have lost
    methods, so it can't just be tried."""
    if _is_ours(given):
        return None
    for version in supported:
        if _is_ours(version):
            return version
    raise ProtocolError(f"the host speaks version {given} of the protocol, this tool version 0")


def _is_ours(version: str) -> bool:
    return version.split(".")[0] == "0"


def _read_limits(limits: Optional[Fields]) -> Limits:
    usual = Limits()
    if limits is None:
        return usual

    def seconds(key: str, default: float) -> float:
        return limits.integer(key, int(default * 1000)) / 1000

    return Limits(
        message_bytes=limits.integer("message_bytes", usual.message_bytes),
        file_bytes=limits.integer("file_bytes", usual.file_bytes),
        silence=seconds("silence_ms", usual.silence),
        response=seconds("response_ms", usual.response),
        cancel_grace=seconds("cancel_grace_ms", usual.cancel_grace),
    )


def _read_capabilities(offered: Optional[Fields]) -> Capabilities:
    """Each capability is an object, so that it can carry more one day; ``false`` is also none."""
    if offered is None:
        return Capabilities()
    return Capabilities(**{name: offered.is_there(name) for name in vars(Capabilities())})


def _read_context(context: Optional[Fields]) -> Optional[Context]:
    if context is None:
        return None
    return Context(
        root=context.text("root"),
        action=context.text("action"),
        access=context.mapping("access") if context.has("access") else None,
        workspace_id=context.optional_text("workspace_id") or "",
        conversation_id=context.optional_text("conversation_id") or "",
    )
