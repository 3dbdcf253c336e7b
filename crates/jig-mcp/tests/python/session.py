"""What the tests of this folder have in common: a workspace with tools."""

from __future__ import annotations

import functools

import client
from client import Person, text_of

__all__ = ["Person", "Session", "combinations", "text_of"]

CONFIG = """
# It appends to `runs`, so that a test sees how often it ran.
[tools.paint]
source = "local"
runtime = "vfs"
command = "sh paint.sh"
run = "unattended"
description = "Asks for a colour."
[[tools.paint.access.fs]]
path = "runs"
read = true
write = true

[tools.steps]
source = "local"
runtime = "vfs"
command = "sh steps.sh"
run = "unattended"
description = "Tells how far it is."

[tools.crawl]
source = "local"
command = "sleep {{tool.arguments.seconds}}"
run = "unattended"
description = "Takes its time."
[tools.crawl.parameters.seconds]
type = "string"
required = true

[tools.build]
source = "local"
command = "sh -c 'sleep 1; echo built'"
run = "unattended"
stateful = ["spawn", "fetch", "abort"]
description = "Builds something that takes a while."

[tools.measure]
source = "local"
command = "sh measure.sh"
run = "unattended"
description = "Returns a size."
[tools.measure.output]
type = "object"
properties.size.type = "integer"
required = ["size"]

[tools.flood]
source = "local"
command = "sh -c 'i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done'"
run = "unattended"
description = "Says a lot."

[[tools.fs_read_file.access.fs]]
path = "."
read = true
[[tools.fs_read_file.access.fs]]
path = "secret"
read = false

[kb.topic.style]
title = "House style"
introduction = "How we write here."
subjects = "docs"
"""

# A tool of runtime `vfs` that asks before it answers.
PAINT = """
read -r init
echo '{"jsonrpc":"2.0","id":1,"method":"fs.append","params":{"path":"runs","content":"ran;"}}'
read -r answer
echo '{"jsonrpc":"2.0","method":"state","params":{"type":"waiting","question":{"id":"colour","text":"Which colour?","schema":{"enum":["red","blue"]}}}}'
read -r answer
case $answer in
*'"input":"red"'*) chosen=red ;;
*'"input":"blue"'*) chosen=blue ;;
*) exit 1 ;;
esac
echo '{"jsonrpc":"2.0","method":"result","params":{"content":"painted '$chosen'"}}'
"""

STEPS = """
read -r init
for step in 1 2 3; do
    echo '{"jsonrpc":"2.0","method":"state","params":{"type":"running","content":"step '$step' of 3"}}'
    sleep 0.2
done
echo '{"jsonrpc":"2.0","method":"result","params":{"content":"all steps done"}}'
"""

FILES = {
    "jig.toml": CONFIG,
    "paint.sh": PAINT,
    "steps.sh": STEPS,
    "measure.sh": "echo '{\"size\": 3}'\n",
    "runs": "",
    "notes.txt": "remember the milk\n",
    "secret/key": "hunter2\n",
    "docs/naming.md": "Names say what a thing is.\n",
    "docs/errors.md": "Errors say what to do.\n",
}


class Session(client.Session):
    """A workspace with tools for each test."""

    files = FILES


combinations = functools.partial(client.combinations, base=Session)
