"""Collects what was left to do, and writes it down as Markdown.

A tool of the runtime ``vfs``: the search and the report go through the host, under the rules of
``jig.toml``.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from typing import List, Optional, Sequence

# The command in jig.toml names the folder of the SDK, so that this example needs no installation.
# An installed `jig-tool` needs neither.
sys.path[:0] = sys.argv[1:]

from jig_tool import vfs  # noqa: E402


@vfs.tool
def todo_report(
    host: vfs.Host,
    report: str = "TODO.md",
    paths: Optional[List[str]] = None,
    extensions: Optional[List[str]] = None,
    marks: Sequence[str] = ("TODO", "HACK"),
) -> str:
    """Writes the report, and returns how much there is."""
    if not marks:
        raise vfs.ToolFailure("`marks` is empty: there is nothing to search for")
    pattern = rf"\b({'|'.join(map(re.escape, marks))})\b"
    found = host.grep(pattern, paths, extensions)
    counts: "Counter[str]" = Counter()
    lines = ["# Left to do", ""]
    for file in found.matches:
        if file.path == report:
            continue
        lines += [f"## {file.path}", ""]
        for line in file.lines:
            first = re.search(pattern, line.content)
            counts[first.group(1) if first else marks[0]] += 1
            quoted = line.content.strip().replace("`", "'")
            lines.append(f"- line {line.line_number}: `{quoted}`")
        lines.append("")
    if found.truncated:
        lines += ["There is more than could be listed.", ""]

    if not counts:
        return "Nothing is left to do."
    text = "\n".join(lines)
    if host.exists(report) and host.read(report) != text:
        question = vfs.Question.yes_no("replace", f"Replace {report}?", default=True)
        if not host.ask(question):
            return text
    host.write(report, text)
    summary = ", ".join(f"{count} {mark}" for mark, count in sorted(counts.items()))
    return f"Listed in {report}: {summary}."


if __name__ == "__main__":
    todo_report.main()
