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
    ProcessEnded,
    ProtocolError,
    Stale,
    Timeout,
    TooLarge,
    UnknownProcess,
    Unsupported,
)
from jig_tool._host import Host
from jig_tool._init import Capabilities, Context, Limits, ToolInput
from jig_tool._main import ToolFailure, ToolFunction, main, tool
from jig_tool._process import Process
from jig_tool._replies import (
    Cut,
    Done,
    Edit,
    Entry,
    FileContent,
    FileMatches,
    GrepReply,
    HttpReply,
    MatchedLine,
    Metadata,
    ProcessOutput,
    ProcessReply,
    Terminal,
)

__all__ = [
    "AccessDenied",
    "AlreadyExists",
    "Ambiguous",
    "Cancelled",
    "Capabilities",
    "Context",
    "Cut",
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
    "Process",
    "ProcessEnded",
    "ProcessOutput",
    "ProcessReply",
    "ProtocolError",
    "Question",
    "Resource",
    "Stale",
    "Terminal",
    "Text",
    "Timeout",
    "TooLarge",
    "ToolFailure",
    "ToolFunction",
    "ToolInput",
    "UnknownProcess",
    "Unsupported",
    "connect",
    "main",
    "tool",
]
