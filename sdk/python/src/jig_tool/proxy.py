"""Files, LLM calls and standard streams of a process that runs under ``jig proxy``.

Such a process has no files of its own. It asks the proxy of its parent, over one inherited socket,
and gets file objects that any code can use::

    from jig_tool import proxy

    client = proxy.connect()
    with client.open("data.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    print(client.llm("Summarize this.", files=["data.csv"]))

Errors are ``OSError``, and, where Python has a narrower one, also that.
"""

from jig_tool._proxy_client import Client, connect
from jig_tool._proxy_errors import (
    AccessDenied,
    Disconnected,
    Failed,
    HandleClosed,
    InvalidArgument,
    LimitExceeded,
    NotFound,
    ProtocolError,
    ProxyError,
    QuotaExceeded,
    Unsupported,
)
from jig_tool._proxy_files import RawFile
from jig_tool._proxy_list import Entry
from jig_tool._proxy_llm import LlmReply, Quota, Usage

__all__ = [
    "AccessDenied",
    "Client",
    "Disconnected",
    "Entry",
    "Failed",
    "HandleClosed",
    "InvalidArgument",
    "LimitExceeded",
    "LlmReply",
    "NotFound",
    "ProtocolError",
    "ProxyError",
    "Quota",
    "QuotaExceeded",
    "RawFile",
    "Unsupported",
    "Usage",
    "connect",
]
