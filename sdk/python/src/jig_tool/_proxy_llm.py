"""LLM calls through a proxy: what is asked for, and what comes back."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import IO, Any, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from jig_tool._proxy_connection import Connection, JsonObject
from jig_tool._proxy_errors import LimitExceeded, ProtocolError, QuotaExceeded
from jig_tool._proxy_files import RawFile, raw_file

File = Union[IO[Any], RawFile, int]
"""A file object of the client, or the number of a handle; 0, 1 and 2 are the standard streams."""

Message = Union[Mapping[str, str], Tuple[str, str]]
"""A role (``system``, ``user`` or ``assistant``) and a text."""


@dataclass(frozen=True)
class Usage:
    """What one call took."""

    input_tokens: int
    cached_tokens: int
    """Those of the input that the provider knew already."""
    output_tokens: int
    weighted: float
    """What the call counts in the quota."""


@dataclass(frozen=True)
class Quota:
    """What the proxy's whole tree of processes has used, in weighted tokens."""

    used: float
    reserved: float
    """Held for calls that are under way."""
    limit: float
    """0 if there is none."""
    remaining: Optional[float]
    """``None`` if there is no limit."""
    percent: Optional[float]
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit."""
        return self.limit == 0


@dataclass(frozen=True)
class LlmReply:
    """The answer of an LLM."""

    content: Optional[str]
    """The text; ``None`` if it was written to a file."""
    written: Optional[int]
    """How many bytes were written to that file."""
    model: str
    finish_reason: str
    """``stop`` for a whole answer, ``length`` for one that was cut at ``max_tokens``."""
    usage: Usage
    quota: Quota

    def __str__(self) -> str:
        return self.content or ""


def call_llm(
    connection: Connection,
    prompt: Optional[str],
    *,
    messages: Iterable[Message],
    input: Optional[str],
    files: Iterable[Union[File, str, "os.PathLike[str]"]],
    stdin: Optional[File],
    stdout: Optional[File],
    stderr: Optional[File],
    stream: bool,
    max_tokens: Optional[int],
    temperature: Optional[float],
    top_level: Optional[bool],
) -> LlmReply:
    """The call that :meth:`jig_tool.proxy.Client.llm` describes."""
    used: List[RawFile] = []

    def handle_of(file: Optional[File], *, to_read: bool) -> Optional[int]:
        if file is None or isinstance(file, int):
            return file
        raw = _to_hand_over(file, to_read)
        used.append(raw)
        return raw.handle

    paths, handles = [], []
    for file in files:
        if isinstance(file, (str, os.PathLike)):
            paths.append(os.fspath(file))
        else:
            handles.append(handle_of(file, to_read=True))
    params: JsonObject = {
        "prompt": prompt,
        "messages": [_message(message) for message in messages],
        "input": input,
        "files": handles,
        "paths": paths,
        "stdin": handle_of(stdin, to_read=True),
        "stdout": handle_of(stdout, to_read=False),
        "stderr": handle_of(stderr, to_read=False),
        "stream": stream or None,
        "max_tokens": max_tokens,
        "temperature": temperature,
        "is_top_level": top_level,
    }
    given = {key: value for key, value in params.items() if value is not None and value != []}
    try:
        result = connection.call("LLMCMD", given)
    except LimitExceeded as error:
        if error.message.startswith("quota exceeded"):
            raise QuotaExceeded(error.message, code=error.code) from None
        raise
    finally:
        for raw in used:
            raw.moved()
    return read_reply(result)


def read_reply(result: JsonObject) -> LlmReply:
    """The result of `LLMCMD`."""
    return LlmReply(
        content=_text(result, "content") if result.get("content") is not None else None,
        written=int(_number(result, "written")) if result.get("written") is not None else None,
        model=_text(result, "model"),
        finish_reason=_text(result, "finish_reason"),
        usage=_read_usage(_object(result, "usage")),
        quota=read_quota(_object(result, "quota")),
    )


def _read_usage(usage: JsonObject) -> Usage:
    read, cached, written = _integers(usage, _TOKENS)
    return Usage(read, cached, written, _number(usage, "weighted"))


def read_quota(result: JsonObject) -> Quota:
    """The result of `QUOTA`."""
    limit = _number(result, "limit")
    return Quota(
        _number(result, "used"),
        _number(result, "reserved"),
        limit,
        _number(result, "remaining") if result.get("remaining") is not None else None,
        _number(result, "percent") if result.get("percent") is not None else None,
        *_integers(result, ("calls", *_TOKENS)),
    )


def _to_hand_over(file: Any, to_read: bool) -> RawFile:
    """The raw file of a file object that the proxy is to read or write itself."""
    raw = raw_file(file)
    if not to_read:
        file.flush()
    elif file is not raw and raw.has_moved:
        # Its buffer holds what the proxy would then not find any more.
        raise ValueError(f"{raw.name!r} was read from already: open it again, or unbuffered")
    return raw


def _message(message: Message) -> JsonObject:
    if isinstance(message, Mapping):
        return dict(message)
    role, content = message
    return {"role": role, "content": content}


def _object(result: JsonObject, key: str) -> JsonObject:
    value = result.get(key)
    if not isinstance(value, dict):
        raise _malformed(key, "an object")
    return value


def _text(result: JsonObject, key: str) -> str:
    value = result.get(key)
    if not isinstance(value, str):
        raise _malformed(key, "a string")
    return value


def _number(result: JsonObject, key: str) -> float:
    value = result.get(key)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _malformed(key, "a number")
    return value


def _integers(result: JsonObject, keys: Sequence[str]) -> List[int]:
    values = [result.get(key) for key in keys]
    for key, value in zip(keys, values):
        if not isinstance(value, int) or isinstance(value, bool):
            raise _malformed(key, "an integer")
    return [value for value in values if isinstance(value, int)]


def _malformed(key: str, expected: str) -> ProtocolError:
    return ProtocolError(f"the proxy's answer is malformed: `{key}` must be {expected}")


_TOKENS = ("input_tokens", "cached_tokens", "output_tokens")
