"""Getting hold of the host: :func:`connect`."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Optional, Tuple

from jig_tool._channel import Channel
from jig_tool._errors import Cancelled, ProtocolError
from jig_tool._host import Host
from jig_tool._init import Capabilities, Init, read_init
from jig_tool._session import Session


def connect(
    read_fd: Optional[int] = None, write_fd: Optional[int] = None, *, plain: bool = False
) -> Host:
    """Connects to the host that started this tool, and waits for the call.

    The protocol takes standard input and output for itself. From here on, what the tool prints goes
    to standard error, also from other languages and from child processes, and who reads standard
    input finds it empty: nothing can get into the protocol by accident. With two descriptors, those
    are used instead, and the standard streams are left alone.

    Of what the host offers beyond the plain protocol, everything that this package can use is used;
    with ``plain``, nothing is.

    Raises ``ProtocolError`` if the first message is not a call, and ``Disconnected`` if there is
    none.
    """
    if (read_fd is None) != (write_fd is None):
        raise ValueError("give both descriptors, or none")
    if read_fd is None or write_fd is None:
        read_fd, write_fd = _take_standard_streams()
    channel = Channel(read_fd, write_fd)
    init = _receive_init(channel)
    channel.message_bytes = init.limits.message_bytes
    capabilities = Capabilities() if plain else init.offered
    channel.blobs = capabilities.blobs
    if capabilities != Capabilities() or init.wanted_version is not None:
        channel.send({"jsonrpc": "2.0", "method": "ready", "params": _ready(init, capabilities)})
    return Host(Session(channel, marks_answers=init.stateful), init, capabilities)


def _receive_init(channel: Channel) -> Init:
    message = channel.receive()
    if message.method == "cancel":
        raise Cancelled("the host cancelled the tool before it began")
    if message.method != "init":
        raise ProtocolError("the host's first message is not `init`")
    return read_init(message.params)


def _ready(init: Init, capabilities: Capabilities) -> Dict[str, Any]:
    params: Dict[str, Any] = {}
    if init.wanted_version is not None:
        params["protocol_version"] = init.wanted_version
    params["capabilities"] = {name: {} for name in capabilities.names()}
    return params


def _take_standard_streams() -> Tuple[int, int]:
    global _are_taken
    if _are_taken:
        raise RuntimeError("this process is already connected to its host")
    _are_taken = True
    try:
        os.fstat(2)
    except OSError:
        # Without standard error, its number would be the next to be given out.
        os.open(os.devnull, os.O_WRONLY)
    read_fd, write_fd = os.dup(0), os.dup(1)
    # A pipe that nobody writes to, because a sandbox may have no `/dev/null`.
    empty, end = os.pipe()
    os.close(end)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    if sys.stdout is not None:
        # What was printed before and is still buffered now goes where later prints go.
        sys.stdout.flush()
    sys.stdout = sys.stderr
    return read_fd, write_fd


_are_taken = False
