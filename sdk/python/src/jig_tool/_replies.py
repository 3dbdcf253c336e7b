"""What the host answers, and the parts of a request that are more than one value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

from jig_tool._fields import Fields


@dataclass(frozen=True)
class Edit:
    """One replacement of a patch."""

    old: str
    """The text to replace; it must be there, and only once unless ``all`` is set."""
    new: str
    """The text to put there."""
    all: bool = False
    """Replace it wherever it is."""


@dataclass(frozen=True)
class FileContent:
    """A file's content, or the part that was asked for."""

    data: bytes
    """The content."""
    size: int
    """The size of the whole file in bytes."""
    etag: Optional[str] = None
    """The version that was read, for ``if_match``; ``None`` if the host does not name versions."""

    @property
    def text(self) -> str:
        """The content as text; ``UnicodeDecodeError`` if it is not UTF-8."""
        return self.data.decode("utf-8")


@dataclass(frozen=True)
class Done:
    """A change that was made."""

    etag: Optional[str] = None
    """The version that the file now is, for ``if_match``."""


@dataclass(frozen=True)
class Entry:
    """One entry of a directory."""

    path: str
    """The path, relative to the directory that was listed."""
    kind: str
    """``file``, ``dir`` or, for what is neither, ``other``."""

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory."""
        return self.kind == "dir"

    @property
    def is_file(self) -> bool:
        """Whether it is a file."""
        return self.kind == "file"


@dataclass(frozen=True)
class Metadata:
    """What is known about a path."""

    kind: str
    """``file``, ``dir`` or, for what is neither, ``other``."""
    size: int
    """The size in bytes; 0 for what is not a file."""
    etag: Optional[str] = None
    """The version, for ``if_match``."""

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory."""
        return self.kind == "dir"

    @property
    def is_file(self) -> bool:
        """Whether it is a file."""
        return self.kind == "file"


@dataclass(frozen=True)
class MatchedLine:
    """A line that matches, or one beside it."""

    line_number: int
    """The number of the line; the first is 1."""
    content: str
    """The line without its end."""
    is_match: bool
    """Whether it matches, or only stands beside one that does."""


@dataclass(frozen=True)
class FileMatches:
    """The matches in one file."""

    path: str
    """The file, relative to the workspace."""
    lines: List[MatchedLine]
    """The lines that match and those around them, in order."""


@dataclass(frozen=True)
class GrepReply:
    """What was found."""

    matches: List[FileMatches]
    """The files with matches."""
    skipped: int = 0
    """How many files and directories were left out, for whatever reason."""
    truncated: bool = False
    """Whether there is more than was sent."""
    ignored: int = 0
    """How many of those left out are hidden or named by an ignore file. The tool may not read the others."""


@dataclass(frozen=True)
class HttpReply:
    """What a server answered."""

    status: int
    """The status, such as 200."""
    body: bytes
    """The body."""

    @property
    def text(self) -> str:
        """The body as text; ``UnicodeDecodeError`` if it is not UTF-8."""
        return self.body.decode("utf-8")

    def json(self) -> Any:
        """The body as JSON; ``ValueError`` if it is none."""
        return json.loads(self.body)


@dataclass(frozen=True)
class ProcessReply:
    """What a program did."""

    stdout: str
    """What it printed. What is not UTF-8 has been replaced."""
    stderr: str
    """What it printed as errors, likewise."""
    exit_code: int
    """How it ended; 0 is success."""
    truncated: bool = False
    """Whether it printed more than was sent."""


@dataclass(frozen=True)
class Cut:
    """What is missing in the output that is shown."""

    bytes: int
    """How many bytes."""
    hint: str
    """How to get them, or that they are gone."""


@dataclass(frozen=True)
class Terminal:
    """The screen of a program on a terminal."""

    rows: int
    """Its height."""
    cols: int
    """Its width."""
    cursor: Tuple[int, int]
    """The row and the column of the cursor, counted from 0 at the top left."""
    alternate: bool
    """Whether a program that uses the whole screen has it: an editor, a pager."""


@dataclass(frozen=True)
class ProcessOutput:
    """What a program that stays has printed, and where it stands."""

    running: bool
    """Whether it still runs."""
    content: str
    """The output that was asked for. What is not UTF-8 has been replaced."""
    seq: int
    """How far the output was read: what is new next time comes after it."""
    cut: Optional[Cut] = None
    """What is missing in the content."""
    terminal: Optional[Terminal] = None
    """The screen, if it has a terminal."""
    exit_code: Optional[int] = None
    """The code that it exited with, if it did."""
    signal: Optional[int] = None
    """The number of the signal that ended it, if one did."""


def read_content(result: Fields, blob: Optional[bytes]) -> FileContent:
    data = result.payload("content", blob)
    # The first examples of the protocol have no size.
    return FileContent(data, result.integer("size", len(data)), result.optional_text("etag"))


def read_done(result: Fields) -> Done:
    return Done(result.optional_text("etag"))


def read_entries(result: Fields) -> List[Entry]:
    return [Entry(entry.text("path"), _kind(entry)) for entry in result.objects("entries")]


def read_metadata(result: Fields) -> Metadata:
    return Metadata(_kind(result), result.integer("size"), result.optional_text("etag"))


def read_grep(result: Fields) -> GrepReply:
    return GrepReply(
        [
            FileMatches(found.text("path"), [_line(line) for line in found.objects("lines")])
            for found in result.objects("matches")
        ],
        result.integer("skipped", 0),
        result.flag("truncated", False),
        result.integer("ignored", 0),
    )


def read_http(result: Fields, blob: Optional[bytes]) -> HttpReply:
    return HttpReply(result.integer("status"), result.payload("body", blob))


def read_process(result: Fields) -> ProcessReply:
    return ProcessReply(
        result.text("stdout"),
        result.text("stderr"),
        result.integer("exit_code"),
        result.flag("truncated", False),
    )


def read_output(result: Fields) -> ProcessOutput:
    cut, terminal = result.optional_object("cut"), result.optional_object("terminal")
    return ProcessOutput(
        result.flag("running"),
        result.text("content"),
        result.integer("seq"),
        None if cut is None else Cut(cut.integer("bytes"), cut.text("hint")),
        None if terminal is None else _terminal(terminal),
        result.optional_integer("exit_code"),
        result.optional_integer("signal"),
    )


def _terminal(terminal: Fields) -> Terminal:
    row, col = terminal.pair("cursor")
    size = terminal.integer("rows"), terminal.integer("cols")
    return Terminal(*size, (row, col), terminal.flag("alternate"))


def _kind(fields: Fields) -> str:
    """A kind that is new to us is one that is neither file nor directory."""
    kind = fields.text("kind")
    return kind if kind in ("file", "dir") else "other"


def _line(line: Fields) -> MatchedLine:
    return MatchedLine(line.integer("line_number"), line.text("content"), line.flag("is_match"))
