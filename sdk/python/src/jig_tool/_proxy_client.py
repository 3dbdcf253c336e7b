"""Getting hold of a proxy, and what it can be asked for: :class:`Client`."""

from __future__ import annotations

import io
import os
import weakref
from types import TracebackType
from typing import IO, Any, Iterable, List, Optional, Type, Union, cast

from jig_tool._proxy_connection import Connection
from jig_tool._proxy_errors import ProxyError
from jig_tool._proxy_files import StandardStream, open_file, wrapped
from jig_tool._proxy_list import Entry, list_dir
from jig_tool._proxy_llm import File, LlmReply, Message, Quota, call_llm, read_quota
from jig_tool._proxy_transport import VARIABLE, Descriptors, Transport, inherited, of_descriptors

PathLike = Union[str, "os.PathLike[str]"]


def connect(
    descriptors: Optional[Descriptors] = None, *, top_level: Optional[bool] = None
) -> "Client":
    """Connects to the proxy that serves this process.

    Without an argument, that is the one on the descriptor that ``JIG_PROXY_FD`` names, or else on
    3, and can be done once: programs that this process starts from then on inherit neither the
    descriptor nor the variable. ``descriptors`` is a socket, the number of one, or a pair to read
    from and to write to; they belong to the client from then on.

    ``top_level=False`` marks what is asked for as that of a nested process, which matters for the
    choice of the model. Raises ``Disconnected`` if there is no proxy.
    """
    if descriptors is not None:
        return Client(of_descriptors(descriptors), top_level=top_level)
    global _is_taken
    if _is_taken:
        raise RuntimeError("this process is already connected to its proxy")
    transport = inherited(os.environ.get(VARIABLE))
    _is_taken = True
    os.environ.pop(VARIABLE, None)
    return Client(transport, top_level=top_level)


class Client:
    """A connection to a proxy. Threads may share it; each file is for one thread at a time.

    A process that ends without closing anything leaves nothing open at the proxy. Used in a
    ``with``, the connection is closed at its end.
    """

    stdin: IO[str]
    """What the parent process reads from its standard input; bytes are in ``stdin.buffer``."""
    stdout: IO[str]
    """Goes to the standard output of the parent process, line by line."""
    stderr: IO[str]
    """Goes to the standard error of the parent process, line by line."""

    def __init__(self, transport: Transport, *, top_level: Optional[bool] = None) -> None:
        """Use :func:`connect`."""
        self._connection = Connection(transport)
        self._top_level = top_level
        self.stdin = _standard(self._connection, "<stdin>", "r", 0)
        self.stdout = _standard(self._connection, "<stdout>", "w", 1)
        self.stderr = _standard(self._connection, "<stderr>", "w", 2)
        # At the end of the process, too: a last line without its end is still in a buffer then.
        self._finalizer = weakref.finalize(self, _flush, [self.stdout, self.stderr])

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection, and with it every file that is still open.

        What a file holds back in its buffer is lost then: close files before.
        """
        self._finalizer()
        self._connection.close()

    def open(
        self,
        path: PathLike,
        mode: str = "r",
        buffering: int = -1,
        encoding: str = "utf-8",
        errors: str = "strict",
        newline: Optional[str] = None,
    ) -> IO[Any]:
        """Opens a file, as the builtin ``open`` does.

        The modes are ``r``, ``w``, ``a``, ``r+``, ``w+``, and the protocol's own ``rw``, an
        ``r+`` that makes a missing file. With ``b`` they are for bytes.

        A path that the rules of the proxy allow is a real file. One that no rule speaks of is a
        virtual file: it can be made, and read again by every process of the same proxy, and is gone
        with it. One that a rule denies is a ``PermissionError`` that says which.

        Files that are open for reading can seek, by being opened again and read up to there.
        """
        name = os.fspath(path)
        if not isinstance(name, str):
            raise TypeError("the path of a file of the proxy is text")
        return open_file(
            self._connection, name, mode, buffering, encoding, errors, newline, self._top_level
        )

    def read(self, path: PathLike) -> str:
        """The whole text of a file."""
        return self.read_bytes(path).decode("utf-8")

    def read_bytes(self, path: PathLike) -> bytes:
        """The whole content of a file."""
        with self.open(path, "rb", buffering=0) as file:
            return cast(bytes, file.read())

    def write(self, path: PathLike, text: str) -> None:
        """Makes a file, or replaces its content."""
        self.write_bytes(path, text.encode("utf-8"))

    def write_bytes(self, path: PathLike, data: bytes) -> None:
        """Makes a file, or replaces its content."""
        with self.open(path, "wb") as file:
            file.write(data)

    def append(self, path: PathLike, data: Union[str, bytes]) -> None:
        """Adds to the end of a file, which is made if it is missing."""
        with self.open(path, "ab") as file:
            file.write(data.encode("utf-8") if isinstance(data, str) else data)

    def list_dir(self, path: PathLike = ".") -> List[Entry]:
        """The entries of a directory that this process may know of, by name: real files, and
        virtual ones.

        Raises ``NotFound`` if there is no such directory, ``InvalidArgument`` if it is a file,
        ``AccessDenied`` if no rule lets this process read it, and ``Unsupported`` if the proxy does
        not have this operation, which the protocol does not demand.
        """
        return list_dir(self._connection, os.fspath(path))

    def quota(self) -> Quota:
        """What was used of the quota, by all processes of this proxy together.

        Raises ``Unsupported`` if there is none, and ``AccessDenied`` if this process may not use an
        LLM.
        """
        return read_quota(self._connection.call("QUOTA", {}))

    def llm(
        self,
        prompt: Optional[str] = None,
        *,
        messages: Iterable[Message] = (),
        input: Optional[str] = None,
        files: Iterable[Union[File, PathLike]] = (),
        stream_to: Optional[File] = None,
        stdin: Optional[File] = None,
        stdout: Optional[File] = None,
        stderr: Optional[File] = None,
        max_tokens: Optional[int] = None,
        temperature: Optional[float] = None,
        top_level: Optional[bool] = None,
    ) -> LlmReply:
        """Asks an LLM, by a ``prompt``, by ``messages``, or by both: the prompt comes last.

        ``input`` is text to work on, and so is what ``files`` hold: paths, or files that are open
        for reading and from which nothing was read yet. The proxy reads them, from where they stand
        to their end; they never pass through this process. ``stdin`` is one more of them.

        The answer is in ``content``. With ``stdout`` it is written to that file instead, and with
        ``stream_to`` so while it comes. What goes wrong is also written to ``stderr``. While the
        LLM works, other requests of this client wait.

        Raises ``QuotaExceeded`` if the rest of the quota does not pay for it, ``Unsupported`` if
        the proxy has no LLM, ``AccessDenied`` if this process may not use it, and ``Failed`` if the
        provider fails.
        """
        if stream_to is not None and stdout is not None:
            raise ValueError("give `stream_to` or `stdout`, not both")
        return call_llm(
            self._connection,
            prompt,
            messages=messages,
            input=input,
            files=files,
            stdin=stdin,
            stdout=stdout if stream_to is None else stream_to,
            stderr=stderr,
            stream=stream_to is not None,
            max_tokens=max_tokens,
            temperature=temperature,
            top_level=self._top_level if top_level is None else top_level,
        )


def _standard(connection: Connection, name: str, mode: str, handle: int) -> IO[str]:
    raw = StandardStream(connection, name, mode, handle)
    errors = "backslashreplace" if handle == 2 else "surrogateescape"
    return wrapped(raw, False, 1, "utf-8", errors, None)


def _flush(streams: List[IO[str]]) -> None:
    for stream in streams:
        try:
            if not stream.closed:
                stream.flush()
        except (ProxyError, io.UnsupportedOperation):
            pass  # There is nobody left to be told.


_is_taken = False
