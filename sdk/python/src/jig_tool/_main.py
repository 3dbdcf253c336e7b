"""From a function to a tool: :func:`tool` and :func:`main`."""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
import traceback
from typing import Any, Callable, Dict, Generic, List, NoReturn, Optional, Sequence, TypeVar

from jig_tool._connect import connect
from jig_tool._errors import Cancelled, Disconnected, HostError, ProtocolError
from jig_tool._host import Host

Result = TypeVar("Result")


class ToolFailure(Exception):
    """A failure that the tool expects, told in its own words and without a traceback."""

    def __init__(self, message: str, *, trace: Sequence[str] = (), transient: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.trace = list(trace)
        self.transient = transient


class ToolFunction(Generic[Result]):
    """A function that is a tool. To call it is to call the function, as a test would do."""

    def __init__(self, function: Callable[..., Result]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        return self._function(*args, **kwargs)

    def main(self) -> NoReturn:
        """Runs the tool, as :func:`main` does."""
        main(self._function)


def tool(function: Callable[..., Result]) -> ToolFunction[Result]:
    """Makes a function a tool; as a decorator::

    @vfs.tool
    def report(host: vfs.Host, path: str = ".") -> str: ...

    if __name__ == "__main__":
        report.main()
    """
    return ToolFunction(function)


def main(
    function: Callable[..., object],
    *,
    format_arguments: Optional[Callable[[Host], object]] = None,
) -> NoReturn:
    """Connects to the host, runs ``function`` for the call, and ends the process.

    The function is given the host, and the arguments of the call as the keyword arguments that it
    has. What it returns is the result: text, blocks, ``None`` for nothing, or anything that can be
    shown as JSON. What it raises is reported as an error, with the way there. A function that has
    sent its result itself returns nothing more.

    When the host wants to show the arguments of a call to a person before it is done, nothing is
    done: ``format_arguments`` is called instead, and without it they are shown as JSON.
    """
    sys.exit(_run(function, format_arguments))


def _run(
    function: Callable[..., object], format_arguments: Optional[Callable[[Host], object]]
) -> int:
    if sys.stdin is not None and sys.stdin.isatty():
        print("this is a tool for jig: a host starts it and talks to it", file=sys.stderr)
        return 2
    try:
        host = connect()
    except (Cancelled, Disconnected, ProtocolError) as error:
        # There is no call yet to which an error could belong: the host reports what we print.
        print(f"jig_tool: {error}", file=sys.stderr)
        return 1
    try:
        if host.context is not None and host.context.action == "format_arguments":
            shown = _shown_arguments if format_arguments is None else format_arguments
            result = shown(host)
        else:
            result = function(host, **_arguments(function, host.tool.arguments))
        if not host.is_finished:
            host.result(result)
        return 0
    except Disconnected as error:
        print(f"jig_tool: {error}", file=sys.stderr)
        return 1
    except BaseException as error:
        return _report(host, error)


def _shown_arguments(host: Host) -> str:
    return json.dumps(host.tool.arguments, ensure_ascii=False, indent=2)


def _arguments(function: Callable[..., object], given: Dict[str, Any]) -> Dict[str, Any]:
    """The arguments of the call that the function has parameters for."""
    try:
        host, *parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return {name: value for name, value in given.items() if name != host.name}
    named = [one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    missing = [one.name for one in named if one.default is one.empty and one.name not in given]
    if missing:
        raise ToolFailure(f"the argument `{missing[0]}` is missing")
    return {one.name: given[one.name] for one in named if one.name in given}


def _report(host: Host, error: BaseException) -> int:
    """Tells the host why the tool failed, and returns the exit code."""
    if isinstance(error, SystemExit):
        return _report_exit(host, error)
    if not isinstance(error, (ToolFailure, Cancelled)):
        traceback.print_exception(type(error), error, error.__traceback__)
    if host.is_finished:
        return 1
    if isinstance(error, ToolFailure):
        message, trace, transient = error.message, error.trace, error.transient
    elif isinstance(error, HostError):
        message, trace, transient = error.message, _details(error) + _trace(error), error.retryable
    elif isinstance(error, KeyboardInterrupt):
        message, trace, transient = "the tool was interrupted", [], True
    else:
        message, trace, transient = _described(error), _trace(error), False
    _send_error(host, message, trace, transient)
    return 1


def _send_error(host: Host, message: str, trace: Sequence[str], transient: bool) -> None:
    try:
        host.error(message, trace, transient)
    except HostError as unsent:
        print(f"jig_tool: {message}", f"jig_tool: {unsent}", sep="\n", file=sys.stderr)


def _report_exit(host: Host, error: SystemExit) -> int:
    """``sys.exit()`` is success, ``sys.exit("why")`` and ``sys.exit(1)`` are not."""
    if error.code is None or error.code == 0:
        if not host.is_finished:
            host.result(None)
        return 0
    is_number = isinstance(error.code, int)
    message = f"the tool ended with exit code {error.code}" if is_number else str(error.code)
    if not host.is_finished:
        _send_error(host, message, [], False)
    return error.code if isinstance(error.code, int) else 1


def _details(error: HostError) -> List[str]:
    told = [f"kind: {error.kind}"]
    told += [f"rule: {error.rule}"] if error.rule is not None else []
    told += [f"hint: {error.hint}"] if error.hint is not None else []
    return told


def _trace(error: BaseException) -> List[str]:
    """The causes of an error, outermost first, then where it was raised, innermost first."""
    trace = []
    seen = {id(error)}
    cause = _cause(error)
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        trace.append(_described(cause))
        cause = _cause(cause)
    own = os.path.dirname(__file__)
    frames = traceback.extract_tb(error.__traceback__)
    places = [frame for frame in frames if os.path.dirname(frame.filename) != own]
    for frame in reversed(places[-MAX_PLACES:]):
        name = os.path.basename(frame.filename)
        trace.append(f"at {name}:{frame.lineno} in {frame.name}")
    return trace


def _cause(error: BaseException) -> Optional[BaseException]:
    if error.__cause__ is not None or error.__suppress_context__:
        return error.__cause__
    return error.__context__


def _described(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# How much of a deep recursion is told.
MAX_PLACES = 20
