"""A server of a few lines, of which a test starts many: it has one tool, `say`, and leaves a line where it starts."""

import json
import sys

name = sys.argv[1]
with open(f"starts/{name}", "a", encoding="utf-8") as starts:
    starts.write("started\n")

TOOL = {"name": "say", "description": f"Says {name}.", "inputSchema": {"type": "object"}}

for line in sys.stdin:
    request = json.loads(line)
    method = request["method"]
    if "id" not in request:
        continue
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    if method == "initialize":
        answer["result"] = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": name, "version": "1"},
        }
    elif method == "tools/list":
        answer["result"] = {"tools": [TOOL]}
    elif method == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": f"{name} says so"}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
