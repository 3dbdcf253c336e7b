"""A small MCP server for tests: Python's standard library, one line of JSON for each message.

It does what it is asked, whatever that is: read a file, write one, reach a host. What it may do is not its
business but that of whoever started it. `--tools a,b` offers some of its tools only.
"""

import base64
import json
import os
import socket
import sys
import time

INK = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()


def tool(name, description, required=(), /, **parameters):
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "inputSchema": schema}


TOOLS = [
    tool("echo", "Says it again.", ["text"], text="string", times="integer"),
    tool("read", "Reads a file.", ["path"], path="string"),
    tool("write", "Writes a file.", ["path", "text"], path="string", text="string"),
    tool("variable", "Tells a variable of the environment.", ["name"], name="string"),
    tool("connect", "Connects to a host.", ["host", "port"], host="string", port="integer"),
    tool("ask", "Asks for a name."),
    tool("slow", "Tells how far it is, twice."),
    tool("wait", "Waits until a file is there.", ["path"], path="string"),
    tool("picture", "Gives a picture."),
    tool("die", "Ends the server in the middle of a call."),
    tool("pid", "Tells the process of the server."),
]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def read(path):
    with open(path, encoding="utf-8") as file:
        return text(file.read())


def write(path, text_):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_)
    return text("written")


def connect(host, port):
    with socket.create_connection((host, port), timeout=10) as stream:
        stream.sendall(b"GET / HTTP/1.0\r\nHost: " + host.encode() + b"\r\n\r\n")
        return text(stream.recv(4096).decode("utf-8", "replace"))


def ask():
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = {"message": "What is your name?", "requestedSchema": schema}
    send({"id": "ask-1", "method": "elicitation/create", "params": params})
    while True:
        message = receive()
        if message.get("id") == "ask-1":
            break
    if "error" in message:
        return text("nobody could be asked: " + message["error"]["message"])
    result = message["result"]
    if result.get("action") != "accept":
        return text("no answer: " + str(result.get("action")))
    return text("hello " + result["content"]["name"])


def slow(token):
    for step in (1, 2):
        if token is not None:
            params = {"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"}
            send({"method": "notifications/progress", "params": params})
    return text("done")


def wait(path):
    while not os.path.exists(path):
        time.sleep(0.02)
    return text("it is there")


def call(params):
    name, given = params["name"], params.get("arguments") or {}
    if name == "echo":
        return text(" ".join([given["text"]] * given.get("times", 1)))
    if name == "read":
        return read(given["path"])
    if name == "write":
        return write(given["path"], given["text"])
    if name == "variable":
        return text(os.environ.get(given["name"], "(not set)"))
    if name == "connect":
        return connect(given["host"], given["port"])
    if name == "ask":
        return ask()
    if name == "slow":
        return slow(params.get("_meta", {}).get("progressToken"))
    if name == "wait":
        return wait(given["path"])
    if name == "picture":
        return {"content": [{"type": "image", "data": INK, "mimeType": "image/png"}]}
    if name == "die":
        sys.stderr.write("it was too much for me\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "pid":
        return text(str(os.getpid()))
    return {**text(f"there is no tool {name}"), "isError": True}


def attempt(params):
    try:
        return call(params)
    except Exception as error:
        return {**text(f"{type(error).__name__}: {error}"), "isError": True}


def offered():
    if "--tools" not in sys.argv:
        return TOOLS
    names = sys.argv[sys.argv.index("--tools") + 1].split(",")
    return [one for one in TOOLS if one["name"] in names]


def main():
    while True:
        message = receive()
        method, number = message.get("method"), message.get("id")
        if number is None or method is None:
            continue
        if method == "initialize":
            result = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "small", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": offered()}
        elif method == "tools/call":
            result = attempt(message["params"])
        elif method == "ping":
            result = {}
        else:
            send({"id": number, "error": {"code": -32601, "message": f"there is no {method}"}})
            continue
        send({"id": number, "result": result})


main()
