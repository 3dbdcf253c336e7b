"""The VFS tool protocol, from the tool's side.

:func:`connect` gives a :class:`Host`, whose methods block until the host has answered.
:func:`tool` and :func:`main` also send what a function returns, or why it failed. Everything that
a tool needs can be reached from here.
"""

from jig_tool._connect import connect
from jig_tool._content import Question, Resource, Text
from jig_tool._errors import (
    AccessDenied,
    AlreadyExists,
    Ambiguous,
    Cancelled,
    Disconnected,
    HostError,
    InternalError,
    InvalidParams,
    InvalidRequest,
    IsDirectory,
    MethodNotFound,
    NoMatch,
    NotDirectory,
    NotFound,
    ProtocolError,
    Stale,
    Timeout,
    TooLarge,
    Unsupported,
)
from jig_tool._host import Host
from jig_tool._init import Capabilities, Context, Limits, ToolInput
from jig_tool._main import ToolFailure, ToolFunction, main, tool
from jig_tool._replies import (
    Done,
    Edit,
    Entry,
    FileContent,
    FileMatches,
    GrepReply,
    HttpReply,
    MatchedLine,
    Metadata,
    ProcessReply,
)

__all__ = [
    "AccessDenied",
    "AlreadyExists",
    "Ambiguous",
    "Cancelled",
    "Capabilities",
    "Context",
    "Disconnected",
    "Done",
    "Edit",
    "Entry",
    "FileContent",
    "FileMatches",
    "GrepReply",
    "Host",
    "HostError",
    "HttpReply",
    "InternalError",
    "InvalidParams",
    "InvalidRequest",
    "IsDirectory",
    "Limits",
    "MatchedLine",
    "Metadata",
    "MethodNotFound",
    "NoMatch",
    "NotDirectory",
    "NotFound",
    "ProcessReply",
    "ProtocolError",
    "Question",
    "Resource",
    "Stale",
    "Text",
    "Timeout",
    "TooLarge",
    "ToolFailure",
    "ToolFunction",
    "ToolInput",
    "Unsupported",
    "connect",
    "main",
    "tool",
]
