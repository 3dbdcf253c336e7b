#!/usr/bin/env python3
"""A scripted agent: one session with `jig mcp`, told as it goes.

It speaks MCP over stdin and stdout of the real `jig mcp`, on a copy of this folder, and prints what
the agent asks for, what jig answers, and what the person at the terminal does. Nothing but Python's
standard library is needed.

    python3 session.py                the client cannot ask its user: the person runs `jig approve`
    python3 session.py --elicit       it can: jig asks through the client
    python3 session.py --jig PATH     another jig than the one on the search path
"""

import argparse
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 60  # seconds; a loaded machine is slow, a server that hangs is wrong
WIDTH = 100  # columns


class Server:
    """`jig mcp` as a process, and the requests to it."""

    def __init__(self, jig, folder, env, answer):
        self.answer = answer
        self.number = 0
        self.process = subprocess.Popen(
            [jig, "mcp"],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def _send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def notify(self, method):
        self._send(method=method)

    def request(self, method, **params):
        """Asks, and answers what is asked back, until there is a result."""
        self.number += 1
        self._send(id=self.number, method=method, params=params)
        while True:
            message = self.lines.get(timeout=PATIENCE)
            if message is None:
                raise SystemExit("jig mcp has ended")
            if message.get("method") == "elicitation/create":
                self._send(id=message["id"], result=self.answer(message["params"]))
            elif message.get("id") == self.number and "method" not in message:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']['message']}")
                return message["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)


def say(who, text, wrap=True):
    """One thing that happened: who did it, and what."""
    room = WIDTH - 7
    lines = []
    for line in text.rstrip().splitlines():
        if wrap and len(line) > room:
            lines += textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False)
        else:
            lines.append(line)
    for number, line in enumerate(lines):
        print(f"{who if number == 0 else '':<7}{line}".rstrip())
    sys.stdout.flush()


def text_of(result):
    blocks = result["content"]
    return "\n\n".join(block["text"] for block in blocks if block["type"] == "text")


def call(server, name, **arguments):
    shown = ", ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())
    say("agent", f"calls {name}({shown})")
    result = server.request("tools/call", name=name, arguments=arguments)
    say("jig", ("refuses:\n" if result.get("isError") else "") + text_of(result))
    print()
    return result


def effects(tool):
    """What a call can do, as the policy of the tool has it."""
    return "reads" if tool["annotations"]["readOnlyHint"] else "changes"


def run(jig, folder, env, elicit):
    def person(*words):
        say("you", "$ jig " + " ".join(words))
        done = subprocess.run(
            [jig, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE
        )
        say("", (done.stdout + done.stderr).replace(str(folder), "."), wrap=False)
        print()

    def answer(params):
        say("jig", "asks, through the client:\n" + params["message"])
        offered = params["requestedSchema"]["properties"]
        # The first property is the answer; the first value that it offers is the narrowest yes.
        key, schema = next(iter(offered.items()))
        choices = schema.get("enum") or [one["const"] for one in schema.get("oneOf", [])]
        content = {key: choices[0] if choices else True}
        say("you", "answer: " + ", ".join(str(value) for value in content.values()))
        return {"action": "accept", "content": content}

    server = Server(jig, folder, env, answer)
    capabilities = {"elicitation": {}} if elicit else {}
    hello = server.request(
        "initialize",
        protocolVersion="2025-11-25",
        capabilities=capabilities,
        clientInfo={"name": "scripted-agent", "version": "1"},
    )
    server.notify("notifications/initialized")
    say("agent", f"connects to {hello['serverInfo']['name']}, and asks what there is")
    tools = server.request("tools/list")["tools"]
    wanted = ("fs_create_file", "fs_grep_files", "fs_read_file")
    lines = [f"{tool['name']:<16}{effects(tool)}" for tool in tools if tool["name"] in wanted]
    say("jig", "\n".join([*lines, f"… and {len(tools) - len(lines)} more"]))
    print()

    call(server, "fs_read_file", path="docs/usage.md")
    call(server, "fs_create_file", path="docs/install.md", content="# Install\n")
    refused = call(server, "fs_create_file", path="CHANGELOG.md", content="# Changes\n")
    if refused.get("isError"):
        person("approve", "q_1", "--once")
        call(server, "fs_create_file", path="CHANGELOG.md", content="# Changes\n")
    person("log", "--tool", "fs_create_file")
    server.close()


def main():
    parser = argparse.ArgumentParser(description="One session of a scripted agent with jig mcp.")
    parser.add_argument("--jig", default="jig", help="the program")
    parser.add_argument("--elicit", action="store_true", help="the client can ask its user")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch).resolve()
        folder, home = scratch / "project", scratch / "home"
        home.mkdir()
        own = shutil.ignore_patterns("*.py", "*.txt", "README.md", "__pycache__")
        shutil.copytree(HERE, folder, ignore=own)
        env = {"HOME": str(home), "PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"}
        jig = shutil.which(args.jig) or args.jig
        # What a workspace allows counts once its user has accepted it.
        subprocess.run([jig, "trust", "--yes"], cwd=folder, env=env, check=True, capture_output=True)
        run(jig, folder, env, args.elicit)


if __name__ == "__main__":
    main()
