"""A shell for pipelines that has no files of its own: whatever it opens, it asks the proxy for.

    python3 pipe.py 'grep TODO notes.txt | sort > found.txt'

Every stage runs in this process, and starts no program. What goes from one stage to the next is a
virtual file, because no rule speaks of its path: it exists for the processes of this proxy only,
and is gone with it. So a stage can hand its input on to an LLM by its handle, without reading it.
"""

from __future__ import annotations

import collections
import inspect
import re
import shlex
import sys
from pathlib import Path
from typing import IO, Callable, Dict, List, Optional, Tuple

# The SDK of this repository, so that this example needs no installation. An installed `jig-tool`
# does not need this line.
sys.path.append(str(Path(__file__).resolve().parents[2] / "sdk" / "python" / "src"))

from jig_tool import proxy  # noqa: E402


class Usage(Exception):
    """The line can't be run as it is written."""


class Shell:
    """Runs lines such as ``cat a b | grep x | head 3 > c``."""

    def __init__(self, client: proxy.Client) -> None:
        self.client = client
        self.commands: Dict[str, Callable[..., None]] = {
            "cat": self.cat,
            "grep": self.grep,
            "head": self.head,
            "llm": self.llm,
            "sort": self.sort,
            "uniq": self.uniq,
            "wc": self.wc,
        }

    def run(self, line: str) -> None:
        stages, target = parse(line)
        source: Optional[str] = None
        for number, (name, *arguments) in enumerate(stages, 1):
            if name not in self.commands:
                known = ", ".join(sorted(self.commands))
                raise Usage(f"no command {name!r}; there are {known}")
            command = self.commands[name]
            between = f"/pipe/{number}"
            path = target if number == len(stages) else between
            try:
                inspect.signature(command).bind(source, None, *arguments)
            except TypeError as error:
                raise Usage(f"{name}: {error}") from error
            output = self.client.open(path, "w") if path else self.client.stdout
            try:
                command(source, output, *arguments)
            finally:
                output.flush()
                if path:
                    output.close()
            source = between

    def input(self, source: Optional[str], paths: Tuple[str, ...]) -> List[IO[str]]:
        """The files that a stage works on: those that it names, else what comes from the left."""
        names = paths or ((source,) if source else ())
        return [self.client.open(name) for name in names] or [self.client.stdin]

    def lines(self, source: Optional[str], paths: Tuple[str, ...]) -> List[str]:
        found = []
        for file in self.input(source, paths):
            found += [line if line.endswith("\n") else line + "\n" for line in file]
            if file is not self.client.stdin:
                file.close()
        return found

    def cat(self, source: Optional[str], output: IO[str], *paths: str) -> None:
        output.writelines(self.lines(source, paths))

    def grep(self, source: Optional[str], output: IO[str], pattern: str, *paths: str) -> None:
        wanted = re.compile(pattern)
        output.writelines(line for line in self.lines(source, paths) if wanted.search(line))

    def head(self, source: Optional[str], output: IO[str], count: str, *paths: str) -> None:
        output.writelines(self.lines(source, paths)[: int(count)])

    def sort(self, source: Optional[str], output: IO[str], *paths: str) -> None:
        output.writelines(sorted(self.lines(source, paths)))

    def uniq(self, source: Optional[str], output: IO[str], *paths: str) -> None:
        for line, count in collections.Counter(self.lines(source, paths)).items():
            output.write(f"{count} {line}")

    def wc(self, source: Optional[str], output: IO[str], *paths: str) -> None:
        lines = self.lines(source, paths)
        words = sum(len(line.split()) for line in lines)
        output.write(f"{len(lines)} lines, {words} words\n")

    def llm(self, source: Optional[str], output: IO[str], prompt: str, *paths: str) -> None:
        """The answer of an LLM about its input. The proxy reads the one and writes the other."""
        files = self.input(source, paths)
        try:
            self.client.llm(prompt, files=files, stream_to=output)
        finally:
            for file in files:
                if file is not self.client.stdin:
                    file.close()
        output.write("\n")


def parse(line: str) -> Tuple[List[List[str]], Optional[str]]:
    """The stages of a line, and the file that the last of them writes."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|>")
    words.whitespace_split = True
    stages: List[List[str]] = [[]]
    target = None
    for word in words:
        if word == "|":
            stages.append([])
        elif word == ">":
            target = words.get_token()
            if target is None or words.get_token() is not None:
                raise Usage("`>` and a file are the end of a line")
        else:
            stages[-1].append(word)
    if not all(stages):
        raise Usage("a stage of the pipeline is empty")
    return stages, target


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        Shell(proxy.connect()).run(sys.argv[1])
    except (Usage, OSError, ValueError, re.error) as error:
        print(f"pipe: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
