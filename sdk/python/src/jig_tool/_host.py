"""The host, as a tool sees it: :class:`Host`."""

from __future__ import annotations

import queue
from typing import (
    IO,
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from jig_tool import _files, _replies
from jig_tool._content import Content, JsonObject, Question, content_to_json, to_base64
from jig_tool._errors import Cancelled, ProtocolError, Stale, Timeout, Unsupported
from jig_tool._init import Capabilities, Context, Init, Limits, ToolInput
from jig_tool._parts import PartReader
from jig_tool._paths import PathLike, wire_path
from jig_tool._process import Process
from jig_tool._replies import (
    Done,
    Edit,
    Entry,
    FileContent,
    GrepReply,
    HttpReply,
    Metadata,
    ProcessReply,
)
from jig_tool._session import Answer, Session

Headers = Union[Mapping[str, str], Iterable[Tuple[str, str]]]


class Host:
    """The host of this tool. :func:`jig_tool.vfs.connect` makes one.

    Every method blocks until the host has answered, and raises a
    :class:`~jig_tool.vfs.HostError` if it has not done what was asked. Paths are relative to the
    workspace; those with an inner ``..`` and absolute ones below the root of the workspace are
    made so. Threads may share a host; their requests take turns.
    """

    def __init__(self, session: Session, init: Init, capabilities: Capabilities) -> None:
        self._session = session
        self.tool: ToolInput = init.tool
        """The call: ``name``, ``arguments``, ``answers``, ``options``."""
        self.context: Optional[Context] = init.context
        """Where the tool works and what it may do, if the host says so."""
        self.limits: Limits = init.limits
        """What the host holds the tool to."""
        self.capabilities: Capabilities = capabilities
        """What is in use beyond the plain protocol."""
        self.methods: Optional[FrozenSet[str]] = init.methods
        """The methods that the policy leaves open, such as ``fs.read``, if the host says so."""
        self.is_stateful: bool = init.stateful
        """Whether the caller drives the tool: it sends input to a running tool, and looks at each
        state. Otherwise the tool is called for its result: nobody sees what it says in between, and
        nobody sends input but answers."""
        self.protocol_version: str = init.wanted_version or init.protocol_version
        """The version of the protocol that is spoken."""

    # Files.

    def read(self, path: PathLike, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The text of a file, with its line ends as they are.

        ``UnicodeDecodeError`` if it is not text in that encoding. A large file is read in parts if
        the host offers that, otherwise it is ``TooLarge``.
        """
        return self.read_file(path).data.decode(encoding, errors)

    def read_bytes(self, path: PathLike) -> bytes:
        """The bytes of a file; of a large one as :meth:`read`."""
        return self.read_file(path).data

    def read_file(self, path: PathLike) -> FileContent:
        """The bytes of a file with their version, which ``if_match`` takes."""
        if not self.capabilities.ranges:
            return self._read(path)
        for _ in range(MAX_ATTEMPTS - 1):
            try:
                return self._part_reader(path).read_all()
            except Stale:
                continue
        return self._part_reader(path).read_all()

    def read_range(
        self, path: PathLike, offset: int = 0, length: Optional[int] = None
    ) -> FileContent:
        """The bytes of a file from ``offset`` on, at most ``length`` of them.

        Without ``ranges`` of the host, the whole file is read for it.
        """
        if offset < 0 or (length is not None and length < 0):
            raise ValueError("`offset` and `length` can't be negative")
        if self.capabilities.ranges:
            return self._part_reader(path).read_range(offset, length)
        whole = self._read(path)
        end = None if length is None else offset + length
        return FileContent(whole.data[offset:end], whole.size, whole.etag)

    def write(
        self,
        path: PathLike,
        content: str,
        *,
        exclusive: bool = False,
        if_match: Optional[str] = None,
    ) -> Done:
        """Replaces the text of a file, making it and the directories above it if needed.

        With ``exclusive``, a file that is there is not replaced (``AlreadyExists``); with
        ``if_match``, one of another version is not (``Stale``). Line ends are written as they are.
        """
        return self._write("fs.write", path, content, exclusive, if_match)

    def write_bytes(
        self,
        path: PathLike,
        content: bytes,
        *,
        exclusive: bool = False,
        if_match: Optional[str] = None,
    ) -> Done:
        """Replaces the bytes of a file; as :meth:`write`."""
        return self._write("fs.write", path, content, exclusive, if_match)

    def append(
        self, path: PathLike, content: Union[str, bytes], *, if_match: Optional[str] = None
    ) -> Done:
        """Adds to the end of a file, making it if needed."""
        return self._write("fs.append", path, content, False, if_match)

    def patch(
        self,
        path: PathLike,
        edits: Iterable[Union[Edit, Tuple[str, str]]],
        *,
        if_match: Optional[str] = None,
    ) -> Done:
        """Replaces exact pieces of a file's text, all of them or none.

        Each edit sees what those before it made. A pair is a replacement of text that is there
        once. ``NoMatch`` if the text is not there, ``Ambiguous`` if it is there more than once.
        """
        wire = [_edit(edit if isinstance(edit, Edit) else Edit(*edit)) for edit in edits]
        params = {"path": self._path(path), "edits": wire, **self._if_match(if_match)}
        return _replies.read_done(self._request("fs.patch", params).result)

    def exists(self, path: PathLike) -> bool:
        """Whether there is something at a path."""
        return self._request("fs.exists", {"path": self._path(path)}).result.flag("exists")

    def list_dir(self, path: PathLike = ".") -> List[Entry]:
        """All entries of a directory, not those below."""
        params: JsonObject = {"path": self._path(path)}
        if self.capabilities.pages:
            params["limit"] = PAGE_ENTRIES
        entries: List[Entry] = []
        while True:
            result = self._request("fs.list_dir", params).result
            page = _replies.read_entries(result)
            entries += page
            cursor = result.optional_text("next_cursor")
            if cursor is None or not self.capabilities.pages:
                return entries
            if cursor == params.get("cursor"):
                raise ProtocolError("the host sends the same part of a directory again and again")
            params = {"path": params["path"], "cursor": cursor, "limit": PAGE_ENTRIES}

    def metadata(self, path: PathLike) -> Metadata:
        """Kind, size and version of what is at a path."""
        result = self._request("fs.metadata", {"path": self._path(path)}).result
        return _replies.read_metadata(result)

    def mkdir(self, path: PathLike) -> None:
        """Makes a directory, and those above it that are missing."""
        self._request("fs.mkdir", {"path": self._path(path)})

    def delete(
        self, path: PathLike, *, recursive: bool = False, if_match: Optional[str] = None
    ) -> None:
        """Deletes a file; with ``recursive`` also a directory with all that is below."""
        params = {"path": self._path(path), **_flag("recursive", recursive)}
        self._request("fs.delete", {**params, **self._if_match(if_match)})

    def rename(self, source: PathLike, target: PathLike, *, overwrite: bool = True) -> Done:
        """Moves a file. Without ``overwrite``, a file at the new path is ``AlreadyExists``."""
        params: JsonObject = {"from": self._path(source), "to": self._path(target)}
        if not overwrite:
            params["overwrite"] = False
        return _replies.read_done(self._request("fs.rename", params).result)

    def grep(
        self,
        pattern: str,
        paths: Optional[Sequence[PathLike]] = None,
        extensions: Optional[Sequence[str]] = None,
        context: int = 0,
        *,
        literal: bool = False,
        ignore_case: bool = False,
        all: bool = False,
    ) -> GrepReply:
        """The lines that match a regular expression, or a plain text if ``literal``.

        Looks everywhere unless there are ``paths``, and into all files unless there are
        ``extensions``, written without dot. ``context`` lines are given before and after each.
        ``all`` looks also into files that are hidden or that an ignore file names.
        """
        params: JsonObject = {"pattern": pattern}
        if paths is not None:
            params["paths"] = [self._path(path) for path in _list("paths", paths)]
        if extensions is not None:
            params["extensions"] = _list("extensions", extensions)
        if context:
            params["context"] = context
        params.update(_flag("literal", literal))
        params.update(_flag("ignore_case", ignore_case))
        params.update(_flag("all", all))
        return _replies.read_grep(self._request("fs.grep", params).result)

    def open(
        self,
        path: PathLike,
        mode: str = "r",
        encoding: str = "utf-8",
        errors: str = "strict",
        newline: Optional[str] = None,
    ) -> IO[Any]:
        """A file object, for code that wants one.

        ``mode`` is as in Python's ``open``, except for ``a+``. What is read comes in parts if the
        host offers that. What is written is sent when the file is closed, all at once, and only
        then is it known whether the policy allows it: use ``with``, or call ``close``.
        """
        return _files.open_file(self, path, mode, encoding, errors, newline)

    # Network and programs.

    def http_get(self, url: str, headers: Headers = ()) -> HttpReply:
        """Gets a URL. ``${VAR}`` in a header is a variable of the host, which the tool never sees.

        A status such as 404 is an answer, and not an error.
        """
        answer = self._request("http.get", {"url": url, "headers": _headers(headers)})
        return _replies.read_http(answer.result, answer.blob)

    def http_post(self, url: str, body: Union[str, bytes] = "", headers: Headers = ()) -> HttpReply:
        """Posts to a URL; as :meth:`http_get`."""
        content, blob = self._payload("body", body)
        params = {"url": url, "headers": _headers(headers), **content}
        answer = self._request("http.post", params, blob)
        return _replies.read_http(answer.result, answer.blob)

    def run(self, program: str, args: Sequence[str] = (), envs: Sequence[str] = ()) -> ProcessReply:
        """Runs a program in the workspace and waits for its end.

        ``envs`` are the names of the host's variables that it should see. A program that fails is
        an answer, and not an error: look at ``exit_code``.
        """
        params = {"program": program, "args": _list("args", args), "envs": _list("envs", envs)}
        return _replies.read_process(self._request("process.run", params).result)

    def start_process(
        self,
        program: str,
        args: Sequence[str] = (),
        envs: Sequence[str] = (),
        *,
        cwd: Optional[PathLike] = None,
        terminal: Union[bool, Tuple[int, int]] = False,
    ) -> Process:
        """Starts a program that stays, to be read from and written to while it runs.

        The policy judges it as it judges :meth:`run`. It starts in ``cwd``, or in the root of the
        workspace. With ``terminal`` it has one, of so many rows and columns: programs that talk with
        people want one. Use ``with``, at the end of which it is stopped::

            with host.start_process("python3", terminal=True) as python:
                while (output := python.read(wait=30)).running:
                    host.state("running", output.content)
                    while (text := host.try_apply()) is not None:
                        python.write(text)
        """
        params: JsonObject = {
            "program": program,
            "args": _list("args", args),
            "envs": _list("envs", envs),
        }
        if cwd is not None:
            params["cwd"] = self._path(cwd)
        if terminal is True:
            params["terminal"] = {}
        elif terminal:
            rows, cols = terminal
            params["terminal"] = {"rows": rows, "cols": cols}
        result = self._request("process.start", params).result
        return Process(self._request, result.integer("process"))

    # The call.

    def ask(self, question: Question, content: Content = None) -> Any:
        """The answer to a question: the one that is known, or the one that is given now.

        ``content`` is shown beside the question. The answer is kept in ``tool.answers``. Input that
        has come before is no answer, and stays for :meth:`wait_apply`.
        """
        if question.id not in self.tool.answers:
            state = _state("waiting", content)
            state["question"] = question.to_json()
            self.tool.answers[question.id] = self._session.ask(question.id, state)
        return self.tool.answers[question.id]

    def wait_answer(self, question_id: str) -> Any:
        """The answer to the question that was put last by :meth:`state`; blocks until it is there.

        Input that comes meanwhile, or came before, is no answer; it stays for :meth:`wait_apply`.
        ``ValueError`` if no question of this id is open.
        """
        return self._session.answer(question_id)

    def wait_apply(self, timeout: Optional[float] = None) -> Any:
        """The next input for a stateful tool; blocks until there is one.

        After a question that was put by :meth:`state` it is the answer; see :meth:`wait_answer`.
        ``Timeout``, which is also a ``TimeoutError``, if none comes within ``timeout`` seconds.
        """
        try:
            return self._session.input(timeout)
        except queue.Empty:
            raise Timeout(f"no input came within {timeout} seconds", retryable=True) from None

    def try_apply(self, default: Any = None) -> Any:
        """The input that has come, if there is some, otherwise ``default``; asked again, the next.

        It does not block. Input may be ``None``: whoever must know gives another default.
        """
        try:
            return self._session.input(0)
        except queue.Empty:
            return default

    def receive(self) -> Any:
        """The same as :meth:`wait_apply` without a limit."""
        return self.wait_apply()

    def state(
        self,
        state: str,
        content: Content = None,
        *,
        question: Optional[Question] = None,
        result: Content = None,
        error: Optional[str] = None,
        trace: Sequence[str] = (),
        transient: bool = False,
    ) -> None:
        """Says where a stateful tool stands.

        ``running`` shows ``content``; ``waiting`` also needs a ``question``, whose answer
        :meth:`wait_answer` returns; ``stopped`` ends the tool with a ``result`` or an ``error``.
        """
        params = _state(state, content)
        if (state == "waiting") != (question is not None):
            raise ValueError("a question belongs to the state `waiting`, and to no other")
        if question is not None:
            params["question"] = question.to_json()
            self._session.put_question(question.id, params)
            return
        if state != "stopped":
            self._session.notify("state", params)
            return
        if error is None:
            params["result"] = content_to_json(result)
        else:
            params["error"] = _error(error, trace, transient)
        self._session.finish("state", params)

    def result(self, content: object = None) -> None:
        """Sends the result. The tool is done: it can't ask for anything any more.

        Text and blocks are shown as they are, every other value as JSON.
        """
        self._session.finish("result", {"content": content_to_json(content)})

    def error(self, message: str, trace: Sequence[str] = (), transient: bool = False) -> None:
        """Says that the tool failed, and is done.

        ``trace`` is the chain of causes, outermost first; ``transient`` means that the same call
        may succeed later.
        """
        self._session.finish("error", _error(message, trace, transient))

    @property
    def is_finished(self) -> bool:
        """Whether the result or the error was sent."""
        return self._session.is_finished

    @property
    def is_cancelled(self) -> bool:
        """Whether the host told the tool to end; known also while the tool computes.

        From then on the host answers every request with ``Cancelled``. What a tool still does, as in
        a ``finally``, must not need the host: it can finish what it does by itself. The host waits
        for it for ``limits.cancel_grace``, and ends the programs that the tool has started.
        """
        return self._session.is_cancelled

    def check_cancelled(self) -> None:
        """Raises ``Cancelled`` if the host told the tool to end."""
        if self.is_cancelled:
            raise Cancelled("the host cancelled the tool")

    @property
    def timeout(self) -> Optional[float]:
        """After how many seconds a request is given up; ``None``, as at first, is never.

        A request that waits for a person is not given up, if the host says that it does.
        """
        return self._session.timeout

    @timeout.setter
    def timeout(self, seconds: Optional[float]) -> None:
        self._session.timeout = seconds

    @property
    def on_pending(self) -> Optional[Callable[[str], None]]:
        """Called with the reason when an answer waits for a person."""
        return self._session.on_pending

    @on_pending.setter
    def on_pending(self, callback: Optional[Callable[[str], None]]) -> None:
        self._session.on_pending = callback

    def is_open(self, method: str) -> bool:
        """Whether the policy leaves a method, such as ``fs.write``, open at all."""
        return self.methods is None or method in self.methods

    # Requests.

    def _request(
        self,
        method: str,
        params: Mapping[str, Any],
        blob: Optional[bytes] = None,
        *,
        patience: float = 0.0,
    ) -> Answer:
        return self._session.request(method, params, blob, patience)

    def _path(self, path: PathLike) -> str:
        return wire_path(path, None if self.context is None else self.context.root)

    def _read(
        self, path: PathLike, offset: Optional[int] = None, length: Optional[int] = None
    ) -> FileContent:
        params: JsonObject = {"path": self._path(path)}
        if offset is not None:
            params["offset"] = offset
        if length is not None:
            params["length"] = length
        params.update(_flag("blob", self.capabilities.blobs))
        answer = self._request("fs.read", params)
        return _replies.read_content(answer.result, answer.blob)

    def _part_reader(self, path: PathLike) -> PartReader:
        def read(offset: int, length: int) -> FileContent:
            return self._read(path, offset, length)

        return PartReader(read, self._path(path), self.limits.file_bytes)

    def _write(
        self,
        method: str,
        path: PathLike,
        content: Union[str, bytes],
        exclusive: bool,
        if_match: Optional[str],
    ) -> Done:
        inline, blob = self._payload("content", content)
        params = {"path": self._path(path), **inline, **_flag("exclusive", exclusive)}
        answer = self._request(method, {**params, **self._if_match(if_match)}, blob)
        return _replies.read_done(answer.result)

    def _payload(
        self, key: str, content: Union[str, bytes]
    ) -> Tuple[Dict[str, str], Optional[bytes]]:
        """Content as params, or as bytes to send behind the line."""
        if isinstance(content, str):
            if self.capabilities.blobs and len(content) >= BLOB_BYTES:
                return {}, content.encode("utf-8")
            return {key: content}, None
        content = bytes(content)
        if self.capabilities.blobs and len(content) >= BLOB_BYTES:
            return {}, content
        try:
            return {key: content.decode("utf-8")}, None
        except UnicodeDecodeError:
            return {key: to_base64(content), "encoding": "base64"}, None

    def _if_match(self, etag: Optional[str]) -> Dict[str, str]:
        if etag is None:
            return {}
        # A host that does not know it would ignore it, and the change that it guards would be lost.
        if not self.capabilities.etag:
            raise Unsupported("the host does not offer `etag`, which `if_match` needs")
        return {"if_match": etag}


def _edit(edit: Edit) -> JsonObject:
    return {"old": edit.old, "new": edit.new, **_flag("all", edit.all)}


def _flag(name: str, flag: bool) -> JsonObject:
    return {name: True} if flag else {}


def _list(name: str, values: Sequence[Any]) -> List[Any]:
    # A string is a sequence of strings: `args="check"` would run with five arguments.
    if isinstance(values, (str, bytes)):
        raise TypeError(f"`{name}` must be a list, and not one text")
    return list(values)


def _headers(headers: Headers) -> List[Dict[str, str]]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [{"name": name, "value": value} for name, value in pairs]


def _state(state: str, content: Content) -> JsonObject:
    if state not in ("running", "waiting", "stopped"):
        raise ValueError(f"there is no state {state!r}")
    params: JsonObject = {"type": state}
    shown = content_to_json(content)
    if shown:
        params["content"] = shown
    return params


def _error(message: str, trace: Sequence[str], transient: bool) -> JsonObject:
    # An error must get through, also one about a file name that is no text.
    safe = [text.encode("utf-8", "replace").decode("utf-8") for text in (message, *trace)]
    return {"message": safe[0], "trace": safe[1:], "transient": transient}


# How often a file is read that changes while it is read.
MAX_ATTEMPTS = 3

# How many entries of a directory come in one message.
PAGE_ENTRIES = 1000

# From how many bytes on content is sent raw: below, one write of a line is as good.
BLOB_BYTES = 64 * 1024
