"""A program that stays: :class:`Process`."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Mapping, Optional, Protocol, Type

from jig_tool import _replies
from jig_tool._content import JsonObject
from jig_tool._errors import HostError
from jig_tool._replies import ProcessOutput
from jig_tool._session import Answer


class Ask(Protocol):
    """Sends a request that may take ``patience`` seconds longer than others."""

    def __call__(
        self, method: str, params: Mapping[str, Any], *, patience: float = 0.0
    ) -> Answer: ...


class Process:
    """A program that the host runs for the tool; :meth:`jig_tool.vfs.Host.start_process` makes one.

    Use it in a ``with`` statement, at the end of which it is stopped. A program that is not stopped
    ends with the tool.
    """

    def __init__(self, ask: Ask, number: int) -> None:
        self._ask = ask
        self.number = number
        """The number by which the host knows it."""
        self.is_stopped = False
        """Whether :meth:`stop` was called."""

    def read(
        self,
        *,
        wait: Optional[float] = None,
        settle: bool = False,
        view: str = "new",
        after_seq: Optional[int] = None,
        max_bytes: Optional[int] = None,
    ) -> ProcessOutput:
        """What it printed since the last read, and whether it runs.

        If there is nothing new, waits for it for at most ``wait`` seconds; with ``settle``, until the
        program has said what it has to say, as far as one can tell. A read that waits also returns
        when the program has ended, and when there is input for the tool, which
        :meth:`~jig_tool.vfs.Host.try_apply` then has.

        ``view`` is ``new``, ``screen`` (what a person would see now) or ``all`` (all that is kept).
        What is new is counted from ``after_seq``, the ``seq`` of an earlier answer, if there is one.
        """
        params: JsonObject = {"process": self.number}
        if view != "new":
            params["view"] = view
        if after_seq is not None:
            params["after_seq"] = after_seq
        if max_bytes is not None:
            params["max_bytes"] = max_bytes
        if wait is not None:
            params["wait_ms"] = max(round(wait * 1000), 0)
        if settle:
            params["settle"] = True
        answer = self._ask("process.read", params, patience=wait or 0.0)
        return _replies.read_output(answer.result)

    def write(self, input: object) -> None:
        """Sends it input: text as it is, or one of the objects that :meth:`line`, :meth:`keys`,
        :meth:`resize` and :meth:`end_input` send, or a list of them. So what a caller applies can be
        handed on as it came. ``ProcessEnded`` if the program has ended.
        """
        self._ask("process.write", {"process": self.number, "input": input})

    def line(self, text: str) -> None:
        """Sends it a line: the text, and the end of the line or the enter key."""
        self.write({"line": text})

    def keys(self, *keys: str) -> None:
        """Presses keys, such as ``ctrl-c``, ``up`` or ``enter``. With pipes there are only a few."""
        self.write({"keys": list(keys)})

    def resize(self, rows: int, cols: int) -> None:
        """Gives its terminal another size."""
        self.write({"resize": {"rows": rows, "cols": cols}})

    def end_input(self) -> None:
        """Ends its input."""
        self.write({"end": True})

    def stop(self) -> ProcessOutput:
        """Asks it to end, and ends it if it does not: what it printed since the last read, and how
        it ended. Nothing can be asked about it any more."""
        self.is_stopped = True
        # It may take both times of grace.
        answer = self._ask("process.stop", {"process": self.number}, patience=STOP_SECONDS)
        return _replies.read_output(answer.result)

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self.is_stopped:
            return
        try:
            self.stop()
        except HostError:
            # If the host can't be asked, it ends the program with the tool.
            pass

    def __repr__(self) -> str:
        return f"Process({self.number})"


# How long the host may take to end a program that does not want to.
STOP_SECONDS = 15.0
