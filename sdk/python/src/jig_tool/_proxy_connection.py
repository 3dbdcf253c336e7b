"""The connection to a proxy: frames out, frames in, and who waits for which.

A frame is four bytes of length, big-endian, and as many bytes of JSON. No thread of its own reads:
of the threads that wait for an answer, one reads for all, which costs nothing in a program with one
thread. Requests of several threads, and several requests of one thread, are under way at the same
time; the proxy answers them in the order in which they were sent.
"""

from __future__ import annotations

import collections
import json
import os
import threading
from typing import Any, Deque, Dict, List, Optional, Sequence, Set, Tuple

from jig_tool._proxy_errors import (
    Disconnected,
    LimitExceeded,
    ProtocolError,
    ProxyError,
    error_from_wire,
)
from jig_tool._proxy_transport import Transport

JsonObject = Dict[str, Any]


class Pending:
    """A request that was sent. Its answer may come, may have come, or may be of no interest."""

    __slots__ = ("error", "id", "is_done", "is_unwanted_open", "result")

    def __init__(self, request_id: str) -> None:
        self.id = request_id
        self.is_done = False
        self.result: JsonObject = {}
        self.error: Optional[ProxyError] = None
        self.is_unwanted_open = False
        """The file that this request opens is to be closed again: nobody waits for it any more."""


class Connection:
    """Requests and their answers. Threads may share it; a forked process may not use it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._process = os.getpid()
        # A shell may hand its connection to one program after another, and one that was killed
        # leaves answers behind. They must not be taken for ours.
        self._prefix = os.urandom(4).hex() + "."
        self._next_id = 1
        self.open_handles: Set[int] = set()
        """What :meth:`close` closes, because the connection may have others who go on with it."""
        # What ends the connection, for every request from then on.
        self._end: Optional[Tuple[type[ProxyError], str]] = None
        self._buffer = bytearray()
        # Both locks can be taken again by the thread that has them: the garbage collector may run a
        # file's finalizer in the middle of anything. It then finds the flag that refuses it.
        self._sending = threading.RLock()
        self._is_sending = False
        self._turn = threading.Condition(threading.RLock())
        self._reader: Optional[int] = None
        self._waiting = 0
        self._pending: Dict[str, Pending] = {}
        # Handles of files that were forgotten, to be closed with the next request.
        self._unused: Deque[int] = collections.deque()

    def call(self, op: str, params: JsonObject) -> JsonObject:
        """Sends a request, and waits for its result."""
        return self.wait(self.send([(op, as_json(params))])[0])

    def send(self, requests: Sequence[Tuple[str, bytes]]) -> List[Pending]:
        """Sends requests, an operation and its params as JSON, all in one go."""
        self._check()
        with self._sending:
            if self._is_sending:
                raise ProxyError("a file of the proxy was used while another request is being sent")
            self._is_sending = True
            try:
                frames: List[bytes] = []
                pending = [self._frame(frames, op, params) for op, params in requests]
                while self._unused:
                    handle = self._unused.popleft()
                    pending.append(self._frame(frames, "close", b'{"h":%d}' % handle))
                self._pending.update((one.id, one) for one in pending)
                self._write(b"".join(frames))
            finally:
                self._is_sending = False
        return pending[: len(requests)]

    def wait(self, pending: Pending) -> JsonObject:
        """The result of a request; raises what the proxy answered instead."""
        if not pending.is_done:
            self._await(pending)
        if pending.error is not None:
            raise pending.error
        return pending.result

    def close_later(self, handle: int) -> None:
        """Closes a handle that nobody has any more, without waiting, from wherever that may be."""
        self.open_handles.discard(handle)
        self._unused.append(handle)
        if self.is_closed or self.is_busy_here():
            return
        try:
            self.send([])
        except ProxyError:
            pass  # Then the proxy closes it with the connection.

    def is_busy_here(self) -> bool:
        """Whether this thread is amid a request already, as a finalizer can find itself."""
        if self._reader == threading.get_ident():
            return True
        # Whoever gets the lock while somebody sends, is that thread itself.
        if not self._sending.acquire(blocking=False):
            return False
        is_sending = self._is_sending
        self._sending.release()
        return is_sending

    def close(self) -> None:
        """Closes the connection, and at the proxy every file that is still open."""
        if self._process != os.getpid():
            # Only this process's copy: the conversation is the other's.
            self._transport.close()
            return
        is_idle = self._reader is None and not self._pending
        if is_idle and self._end is None:
            self._close_files()
        # Whoever else has the socket, such as the shell that started us, can go on with it. But a
        # thread that waits for an answer has to be woken.
        self._give_up(Disconnected, "the connection to the proxy is closed", shuts_down=not is_idle)
        with self._turn:
            # The number of a descriptor may be given out again as soon as it is closed, so nobody
            # may be about to read from it. A socket wakes its reader; a pipe can't, and stays open.
            here = (None, threading.get_ident())
            if not self._turn.wait_for(lambda: self._reader in here, timeout=CLOSE_SECONDS):
                return
        with self._sending:
            self._transport.close()

    @property
    def is_closed(self) -> bool:
        """Whether there is no connection any more, or none of this process."""
        return self._end is not None or self._process != os.getpid()

    def _close_files(self) -> None:
        try:
            handles = sorted(self.open_handles)
            for one in self.send([("close", b'{"h":%d}' % handle) for handle in handles]):
                self.wait(one)
        except ProxyError:
            pass  # Then they are closed with the connection.

    def _check(self) -> None:
        if self._process != os.getpid():
            # Two processes on one connection would take each other's answers.
            raise Disconnected("the connection to the proxy belongs to the process that forked")
        if self._end is not None:
            kind, message = self._end
            raise kind(message)

    def _frame(self, frames: List[bytes], op: str, params: bytes) -> Pending:
        request_id = f"{self._prefix}{self._next_id}"
        self._next_id += 1
        body = b'{"id":"%s","op":"%s","params":%s}' % (request_id.encode(), op.encode(), params)
        if len(body) > MAX_FRAME:
            raise LimitExceeded(f"the request has {len(body)} bytes; the limit is {MAX_FRAME}")
        frames.append(len(body).to_bytes(4, "big"))
        frames.append(body)
        return Pending(request_id)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                written = self._transport.write_some(rest)
                if written == 0:
                    self._wait_for_room()
                rest = rest[written:]
        except OSError as error:
            self._give_up(Disconnected, "the proxy has closed the connection")
            raise Disconnected("the proxy has closed the connection") from error
        except BaseException:
            # Half a frame may be out, behind which nothing can be understood any more.
            if len(rest) < len(data):
                self._give_up(Disconnected, "a request to the proxy was interrupted")
            raise

    def _wait_for_room(self) -> None:
        """Until more can be sent. Meanwhile answers are read, if no other thread does that.

        Without this, a proxy that can't get rid of its answers, and so takes no more requests, and
        a client that can't get rid of its requests would wait for each other.
        """
        leads = self._lead()
        try:
            is_readable = self._transport.wait(reads=leads, timeout=None if leads else 0.05)
            if leads and is_readable:
                self._receive()
        finally:
            if leads:
                self._resign()

    def _await(self, pending: Pending) -> None:
        self._check_fork()
        with self._turn:
            while not pending.is_done:
                if self._reader == threading.get_ident():
                    raise ProxyError("a file of the proxy was used while an answer is being read")
                if self._lead():
                    break
                self._waiting += 1
                try:
                    self._turn.wait()
                finally:
                    self._waiting -= 1
            else:
                return
        try:
            while not pending.is_done:
                self._receive()
        finally:
            self._resign()

    def _check_fork(self) -> None:
        if self._process != os.getpid():
            self._check()

    def _lead(self) -> bool:
        """Makes this thread the one that reads; ``False`` if there is one."""
        with self._turn:
            if self._reader is not None:
                return False
            self._reader = threading.get_ident()
            return True

    def _resign(self) -> None:
        with self._turn:
            self._reader = None
            self._turn.notify_all()

    def _receive(self) -> None:
        """Reads once, and hands out the answers that are complete."""
        if self._end is not None:
            self._give_up(*self._end)
            return
        try:
            chunk = self._transport.read()
        except OSError:
            chunk = b""
        try:
            if not chunk:
                cut = " amid an answer" if self._buffer else ""
                self._give_up(Disconnected, f"the proxy has closed the connection{cut}")
                return
            self._buffer += chunk
            self._hand_out()
        except ProxyError as error:
            self._give_up(type(error), error.message)
        except BaseException:
            # An interrupt here can have lost an answer.
            self._give_up(Disconnected, "an answer of the proxy was interrupted")
            raise
        if self._waiting:
            with self._turn:
                self._turn.notify_all()

    def _hand_out(self) -> None:
        buffer, start = self._buffer, 0
        while len(buffer) - start >= 4:
            length = int.from_bytes(buffer[start : start + 4], "big")
            if length > MAX_FRAME:
                raise ProtocolError(f"the proxy announces {length} bytes; the limit is {MAX_FRAME}")
            end = start + 4 + length
            if len(buffer) < end:
                break
            self._take(bytes(buffer[start + 4 : end]))
            start = end
        del buffer[:start]

    def _take(self, frame: bytes) -> None:
        try:
            answer = json.loads(frame.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"the proxy's answer is not JSON: {error}") from error
        if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
            raise ProtocolError("the proxy's answer is malformed: `ok` must be `true` or `false`")
        request_id = answer.get("id")
        if not isinstance(request_id, str):
            raise ProtocolError("the proxy's answer is malformed: `id` must be a string")
        pending = self._pending.get(request_id)
        if pending is None and request_id != "?" and not request_id.startswith(self._prefix):
            return
        refusal = None if answer["ok"] else _error_of(answer)
        if pending is None:
            # The proxy could not read what we sent, or answers what nobody asked.
            raise refusal or ProtocolError(
                f"the proxy answers a request {request_id} that nobody sent"
            )
        result = answer.get("result")
        pending.error = refusal
        pending.result = result if isinstance(result, dict) else {}
        pending.is_done = True
        # Only now: what is not answered must be found there when the connection is given up.
        del self._pending[request_id]
        if pending.is_unwanted_open and isinstance(pending.result.get("handle"), int):
            self._unused.append(pending.result["handle"])

    def _give_up(self, kind: type[ProxyError], message: str, *, shuts_down: bool = True) -> None:
        """Ends the connection: what waits is answered with this error, and so is all that comes."""
        with self._turn:
            if self._end is None:
                self._end = (kind, message)
            for pending in list(self._pending.values()):
                pending.error = kind(message)
                pending.is_done = True
            self._pending.clear()
            self._turn.notify_all()
        if shuts_down:
            self._transport.shut_down()


def as_json(params: JsonObject) -> bytes:
    """Params in the form in which they are sent."""
    return json.dumps(params, allow_nan=False, separators=(",", ":")).encode("ascii")


def _error_of(answer: JsonObject) -> ProxyError:
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    if not isinstance(code, str):
        raise ProtocolError("the proxy's error has no `code`")
    return error_from_wire(code, message if isinstance(message, str) else code)


CLOSE_SECONDS = 1.0

MAX_FRAME = 1 << 20
"""The longest message of the protocol. A proxy that announces more could make us hold anything."""
