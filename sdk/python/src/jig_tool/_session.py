"""Requests and their answers, and what arrives in between."""

from __future__ import annotations

import queue
import threading
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional

from jig_tool._channel import Channel, Message
from jig_tool._errors import Cancelled, HostError, ProtocolError, Timeout, error_from_wire
from jig_tool._fields import Fields
from jig_tool._inbox import Applied, Inbox


class Answer(NamedTuple):
    """The ``result`` of a request, and the raw bytes that followed it."""

    result: Fields
    blob: Optional[bytes]


class Session:
    """One conversation with the host: a request at a time, until the tool is done.

    Threads may share it; they take turns.
    """

    def __init__(self, channel: Channel, marks_answers: bool = False) -> None:
        """``marks_answers``: whether the host says of every answer which question it answers."""
        self._channel = channel
        self._turn = threading.RLock()
        self._is_asking = False
        self._last_id = 0
        self._inbox = Inbox(marks_answers)
        self.is_finished = False
        self.timeout: Optional[float] = None
        self.on_pending: Optional[Callable[[str], None]] = None

    @property
    def is_cancelled(self) -> bool:
        return self._channel.cancelled.is_set()

    def request(
        self,
        method: str,
        params: Mapping[str, Any],
        blob: Optional[bytes] = None,
        patience: float = 0.0,
    ) -> Answer:
        """Sends a request and waits for its answer, ``patience`` seconds longer than for others.

        A ``cancel`` of the host ends one wait. Requests can still be sent then, but the host answers
        them all with ``Cancelled``.
        """
        with self._turn:
            self._check()
            self._take_what_is_here()
            self._last_id += 1
            message = {
                "jsonrpc": "2.0",
                "id": self._last_id,
                "method": method,
                "params": params,
            }
            if blob is not None:
                message["blob"] = len(blob)
            with self._asking():
                self._channel.send(message, blob)
                return self._wait_for_answer(method, self._last_id, patience)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Sends a notification, which has no answer."""
        with self._turn:
            self._check()
            self._channel.send({"jsonrpc": "2.0", "method": method, "params": params})

    def finish(self, method: str, params: Mapping[str, Any]) -> None:
        """Sends the last message of the tool."""
        with self._turn:
            self.notify(method, params)
            self.is_finished = True

    def put_question(self, question_id: str, waiting: Mapping[str, Any]) -> None:
        """Sends a state that holds a question. What came before is no answer to it."""
        with self._turn:
            self._check()
            self._take_what_is_here()
            # Before it is sent: what comes from then on may be the answer.
            self._inbox.put_question(question_id)
            self.notify("state", waiting)

    def answer(self, question_id: str) -> Any:
        """Waits for the answer to a question that was put. Input stays for :meth:`input`."""
        with self._turn:
            self._check()
            if not self._inbox.asks(question_id):
                raise ValueError(f"the question `{question_id}` is not open")
            with self._asking():
                return self._wait_for(self._inbox.take_answer)

    def ask(self, question_id: str, waiting: Mapping[str, Any]) -> Any:
        """Sends a state that holds a question, and waits for the answer."""
        with self._turn:
            self.put_question(question_id, waiting)
            return self.answer(question_id)

    def input(self, timeout: Optional[float] = None) -> Any:
        """What a running tool is given next; ``queue.Empty`` if nothing comes in time."""
        with self._turn:
            self._check()
            with self._asking():
                return self._wait_for(self._inbox.take_next, timeout)

    def _check(self) -> None:
        if self.is_finished:
            raise RuntimeError("the tool has already sent its result")
        # The lock lets its owner in again: a file that is collected while its owner waits would
        # otherwise be written in the middle, and take the answer that its owner waits for.
        if self._is_asking:
            raise RuntimeError("a request can't be sent while this thread waits for an answer")

    @contextmanager
    def _asking(self) -> Iterator[None]:
        self._is_asking = True
        try:
            yield
        finally:
            self._is_asking = False

    def _take_what_is_here(self) -> None:
        while True:
            try:
                message = self._channel.receive(timeout=0)
            except queue.Empty:
                return
            if message.method is not None:
                self._note(message)

    def _wait_for_answer(self, method: str, request_id: int, patience: float) -> Answer:
        deadline = self._deadline(patience)
        given_up = False
        while True:
            try:
                message = self._channel.receive(_remaining(deadline))
            except queue.Empty:
                if given_up:
                    raise _timeout(method) from None
                # The host answers all the same: with the result, if it was faster.
                given_up = True
                deadline = self._deadline()
                params = {"request_id": request_id}
                self._channel.send({"jsonrpc": "2.0", "method": "cancel", "params": params})
                continue
            if message.method == "pending" and message.params.get("request_id") == request_id:
                # Someone is asked, which takes as long as it takes.
                deadline = None
            if message.method is not None:
                self._note(message)
            elif _is_answer_to(message, request_id):
                try:
                    return _read_answer(method, message)
                except Cancelled as error:
                    if given_up:
                        raise _timeout(method) from error
                    raise

    def _wait_for(
        self, take: Callable[[], Optional[Applied]], timeout: Optional[float] = None
    ) -> Any:
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            applied = take()
            if applied is not None:
                return applied.input
            if self.is_cancelled:
                raise _cancelled()
            is_over = deadline is not None and deadline <= time.monotonic()
            message = self._channel.receive(0 if is_over else _remaining(deadline))
            if message.method is not None:
                self._note(message)

    def _note(self, message: Message) -> None:
        """Takes a notification. One that is new to us is passed over."""
        if message.method == "cancel":
            raise _cancelled()
        if message.method == "apply":
            self._inbox.push(message.params)
        elif message.method == "pending" and self.on_pending is not None:
            reason = message.params.get("reason")
            self.on_pending(reason if isinstance(reason, str) else "")

    def _deadline(self, patience: float = 0.0) -> Optional[float]:
        return None if self.timeout is None else time.monotonic() + self.timeout + patience


def _remaining(deadline: Optional[float]) -> Optional[float]:
    return None if deadline is None else max(deadline - time.monotonic(), 0.001)


def _is_answer_to(message: Message, request_id: int) -> bool:
    """Whether this answers the one request that is open.

    An answer without id is about a line that the host could not read, which must be ours. Any other
    answers a request that was given up.
    """
    answered = message.body.get("id")
    if answered is None:
        return "error" in message.body
    return type(answered) is int and answered == request_id


def _read_answer(method: str, message: Message) -> Answer:
    result, error = message.body.get("result"), message.body.get("error")
    if (result is None) == (error is None):
        raise ProtocolError(f"the host's answer to `{method}` has not either `result` or `error`")
    if error is None:
        return Answer(Fields(f"the host's answer to `{method}`", result), message.blob)
    if not isinstance(error, dict):
        raise ProtocolError(f"the host's answer to `{method}` is malformed: `error` is no object")
    raise error_from_wire(error)


def _cancelled() -> HostError:
    return Cancelled("the host cancelled the tool")


def _timeout(method: str) -> HostError:
    return Timeout(f"the host did not answer `{method}` in time", retryable=True)
