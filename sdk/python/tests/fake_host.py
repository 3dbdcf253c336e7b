"""A host for the tests: it speaks the protocol over real pipes to a real tool process.

It serves a workspace in memory, and is stricter than a host must be: a line that is not exactly of
the protocol, or uses what was not agreed upon, fails the test.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

SDK = Path(__file__).resolve().parent.parent / "src"
JsonObject = Dict[str, Any]

ALL_CAPABILITIES: JsonObject = {
    "concurrency": {"max_in_flight": 8},
    "pending": {},
    "pages": {},
    "ranges": {},
    "etag": {},
    "blobs": {},
    "fd_pass": {},
    "from_the_future": {"x": 1},
}

# The params of each method: which must be there, and which may, with their types.
PARAMS: Dict[str, Tuple[Dict[str, Any], Dict[str, Any]]] = {
    "fs.read": ({"path": str}, {"offset": int, "length": int, "blob": bool}),
    "fs.write": (
        {"path": str},
        {"content": str, "encoding": str, "exclusive": bool, "if_match": str},
    ),
    "fs.append": ({"path": str}, {"content": str, "encoding": str, "if_match": str}),
    "fs.patch": ({"path": str, "edits": list}, {"if_match": str}),
    "fs.exists": ({"path": str}, {}),
    "fs.list_dir": ({"path": str}, {"cursor": str, "limit": int}),
    "fs.metadata": ({"path": str}, {}),
    "fs.mkdir": ({"path": str}, {}),
    "fs.delete": ({"path": str}, {"recursive": bool, "if_match": str}),
    "fs.rename": ({"from": str, "to": str}, {"overwrite": bool}),
    "fs.grep": (
        {"pattern": str},
        {
            "paths": list,
            "extensions": list,
            "context": int,
            "literal": bool,
            "ignore_case": bool,
        },
    ),
    "http.get": ({"url": str, "headers": list}, {}),
    "http.post": ({"url": str, "headers": list}, {"body": str, "encoding": str}),
    "process.run": ({"program": str, "args": list, "envs": list}, {}),
    "process.start": (
        {"program": str, "args": list, "envs": list},
        {"cwd": str, "terminal": dict},
    ),
    "process.read": (
        {"process": int},
        {"view": str, "after_seq": int, "max_bytes": int, "wait_ms": int, "settle": bool},
    ),
    "process.write": ({"process": int, "input": object}, {}),
    "process.stop": ({"process": int}, {}),
}
# The params that need a capability.
NEEDS = {
    "offset": "ranges",
    "length": "ranges",
    "blob": "blobs",
    "cursor": "pages",
    "limit": "pages",
    "if_match": "etag",
}


class Refusal(Exception):
    """An error to answer with."""

    def __init__(self, code: int, kind: str, message: str = "refused", **data: Any) -> None:
        super().__init__(message)
        self.error = {
            "code": code,
            "message": message,
            "data": {"kind": kind, **data, "retryable": data.get("retryable", False)},
        }


class Host:
    """One tool process and everything that it said."""

    def __init__(
        self,
        source: Union[str, List[str]],
        *,
        files: Optional[Mapping[str, bytes]] = None,
        arguments: Optional[JsonObject] = None,
        answers: Optional[JsonObject] = None,
        options: Optional[JsonObject] = None,
        init: Optional[JsonObject] = None,
        first_lines: Optional[List[bytes]] = None,
        on_request: Optional[Callable[["Host", JsonObject], bool]] = None,
        on_state: Optional[Callable[["Host", JsonObject], None]] = None,
        on_cancel: Optional[Callable[["Host", JsonObject], None]] = None,
    ) -> None:
        """``source`` is the text of a Python tool, or the command of another.

        ``init`` is added to the params of the first message. ``on_request`` may serve a request
        itself, and then returns ``True``.
        """
        self.source = source
        self.files: Dict[str, bytes] = dict(files or {})
        self.made_dirs: List[str] = []
        self.init: JsonObject = {
            "tool": {
                "name": "test",
                "arguments": arguments or {},
                "answers": answers or {},
                "options": options or {},
            },
            "protocol_version": "0.1.0",
            **(init or {}),
        }
        self.first_lines = first_lines
        self.on_request = on_request
        self.on_state = on_state
        self.on_cancel = on_cancel
        self.agreed: JsonObject = {}
        self.page_entries = 3
        self.file_bytes = self.init.get("limits", {}).get("file_bytes", 10_000_000)
        self.lines: List[bytes] = []
        self.requests: List[JsonObject] = []
        self.notifications: List[JsonObject] = []
        self.stderr = ""
        self.exit_code: Optional[int] = None
        self.process: Any = None

    # The conversation.

    def run(self) -> Host:
        """Runs the tool to its end, and checks that it ended by itself."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as stderr:
            self.process = subprocess.Popen(
                self._command(folder),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=_environment(),
            )
            is_late = threading.Event()

            def end() -> None:
                is_late.set()
                self.process.kill()

            timer = threading.Timer(30, end)
            timer.start()
            try:
                self._converse()
                self.process.stdout.close()
                self.exit_code = self.process.wait()
            finally:
                timer.cancel()
                self.process.kill()
                self.process.wait()
                self.close_input()
                self.process.stdout.close()
                stderr.seek(0)
                self.stderr = stderr.read().decode("utf-8", "replace")
            assert not is_late.is_set(), f"the tool hangs; it said:\n{self.stderr}"
        return self

    @property
    def final(self) -> JsonObject:
        """The last message of the tool."""
        assert self.notifications, f"the tool sent nothing; it said:\n{self.stderr}"
        return self.notifications[-1]

    @property
    def result(self) -> Any:
        """What the tool returned."""
        assert self.final["method"] == "result", f"{self.final}\n{self.stderr}"
        return self.final["params"]["content"]

    @property
    def error(self) -> JsonObject:
        """Why the tool failed."""
        assert self.final["method"] == "error", f"{self.final}\n{self.stderr}"
        params: JsonObject = self.final["params"]
        return params

    def asked(self, method: str) -> List[JsonObject]:
        """The params of all requests of a method."""
        return [request["params"] for request in self.requests if request["method"] == method]

    def send(self, message: JsonObject, blob: bytes = b"") -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_raw(line + b"\n" + blob)

    def send_raw(self, data: bytes) -> None:
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # The tool has ended, as some of them are to do.

    def close_input(self) -> None:
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def _command(self, folder: str) -> List[str]:
        if isinstance(self.source, list):
            return self.source
        script = Path(folder, "tool.py")
        script.write_text(textwrap.dedent(self.source), encoding="utf-8")
        return [sys.executable, str(script)]

    def _converse(self) -> None:
        if self.first_lines is None:
            self.send({"method": "init", "params": self.init})
        for line in self.first_lines or []:
            self.send_raw(line)
        for line in self.process.stdout:
            self._take(line)

    def _take(self, line: bytes) -> None:
        self.lines.append(line)
        assert line.endswith(b"\n"), f"a line without end: {line!r}"
        message = json.loads(line)
        assert isinstance(message, dict) and message.get("jsonrpc") == "2.0", line
        assert set(message) <= {"jsonrpc", "id", "method", "params", "blob"}, line
        blob = None
        if "blob" in message:
            assert "blobs" in self.agreed, "a blob that was not agreed upon"
            blob = self.process.stdout.read(message["blob"])
            assert len(blob) == message["blob"], "the blob is cut"
        if "id" in message:
            self._serve(message, blob)
        else:
            self._note(message)

    def _note(self, message: JsonObject) -> None:
        method, params = message["method"], message["params"]
        assert method in ("ready", "result", "error", "state", "cancel"), message
        finals = [one for one in self.notifications if _is_final(one)]
        assert not finals, f"{message} after {finals[0]}"
        if method == "ready":
            assert not self.notifications and not self.requests, "`ready` is the first message"
            self.agreed = params["capabilities"]
            offered = self.init.get("capabilities", {})
            assert all(offered.get(name) is not None for name in self.agreed), self.agreed
        self.notifications.append(message)
        if method == "state" and self.on_state is not None:
            self.on_state(self, params)
        if method == "cancel" and self.on_cancel is not None:
            self.on_cancel(self, params)

    def _serve(self, request: JsonObject, blob: Optional[bytes]) -> None:
        self._check(request, blob)
        if blob is not None:
            request["raw"] = blob
        self.requests.append(request)
        if self.on_request is not None and self.on_request(self, request):
            return
        try:
            result, content = self.serve(request["method"], request["params"], blob)
            answer = {"id": request["id"], "result": result}
            if content is None:
                self.send(answer)
            else:
                self.send({**answer, "blob": len(content)}, content)
        except Refusal as refusal:
            self.send({"id": request["id"], "error": refusal.error})

    def _check(self, request: JsonObject, blob: Optional[bytes]) -> None:
        method, params = request["method"], request["params"]
        assert type(request["id"]) is int, request
        assert method in PARAMS, f"there is no method {method}"
        required, optional = PARAMS[method]
        known = {**required, **optional}
        assert set(required) <= set(params) <= set(known), request
        for key, value in params.items():
            assert known[key] in (object, type(value)), request
            assert NEEDS.get(key) is None or NEEDS[key] in self.agreed, f"{key} was not agreed upon"
        content = "body" if method == "http.post" else "content"
        if content in optional:
            assert (content in params) != (blob is not None), request
        assert params.get("encoding", "base64") == "base64", request

    # The workspace.

    def serve(
        self, method: str, params: JsonObject, blob: Optional[bytes] = None
    ) -> Tuple[JsonObject, Optional[bytes]]:
        """Does a request: the result, and the content that follows the line."""
        path = params.get("path", "")
        for one in [path, params.get("from", ""), params.get("to", "")]:
            if one.startswith("/") or ".." in one.split("/"):
                message = f"access denied: path `{one}` leads out of the workspace"
                raise Refusal(-32001, "escape", message, path=one)
        if "if_match" in params and self.etag(path) != params["if_match"]:
            raise Refusal(-32003, "stale", path=path)
        if method == "fs.read":
            return self._read(params)
        if method == "fs.write":
            if params.get("exclusive") and path in self.files:
                raise Refusal(-32003, "already_exists", path=path)
            self.files[path] = _payload(params, "content", blob)
        elif method == "fs.append":
            self.files[path] = self.files.get(path, b"") + _payload(params, "content", blob)
        elif method == "fs.patch":
            self._patch(path, params["edits"])
        elif method == "fs.exists":
            return {"exists": path in self.files or self._is_dir(path)}, None
        elif method == "fs.list_dir":
            return self._list(path, params), None
        elif method == "fs.metadata":
            if self._is_dir(path):
                return {"kind": "dir", "size": 0}, None
            size = len(self._file(path))
            return {"kind": "file", "size": size, **self._etag(path)}, None
        elif method == "fs.mkdir":
            self.made_dirs.append(path)
            return {}, None
        elif method == "fs.delete":
            below = [one for one in self.files if one.startswith(path + "/")]
            if not params.get("recursive"):
                self._file(path)
                below = []
            for one in [path, *below]:
                self.files.pop(one, None)
            return {}, None
        elif method == "fs.rename":
            if params.get("overwrite") is False and params["to"] in self.files:
                raise Refusal(-32003, "already_exists", path=params["to"])
            content = self._file(params["from"])
            del self.files[params["from"]]
            self.files[params["to"]] = content
            return self._etag(params["to"]), None
        elif method == "fs.grep":
            return self._grep(params), None
        else:
            raise Refusal(-32001, "uncovered", f"access denied: `{method}`")
        return self._etag(path), None

    def etag(self, path: str) -> Optional[str]:
        content = self.files.get(path)
        return None if content is None else hashlib.sha256(content).hexdigest()[:12]

    def _etag(self, path: str) -> JsonObject:
        return {"etag": self.etag(path)} if "etag" in self.agreed else {}

    def _is_dir(self, path: str) -> bool:
        return path == "." or any(one.startswith(path + "/") for one in self.files)

    def _file(self, path: str) -> bytes:
        if self._is_dir(path):
            raise Refusal(-32602, "is_dir", f"`{path}` is a directory", path=path)
        if path not in self.files:
            raise Refusal(-32002, "not_found", f"`{path}` does not exist", path=path)
        return self.files[path]

    def _read(self, params: JsonObject) -> Tuple[JsonObject, Optional[bytes]]:
        path, offset = params["path"], params.get("offset", 0)
        whole = self._file(path)
        end = offset + params["length"] if "length" in params else None
        content = whole[offset:end]
        if len(content) > self.file_bytes:
            raise Refusal(-32006, "too_large", path=path)
        result = {"size": len(whole), **self._etag(path), "new_field": [1]}
        if params.get("blob"):
            return result, content
        try:
            return {"content": content.decode("utf-8"), **result}, None
        except UnicodeDecodeError:
            encoded = base64.b64encode(content).decode()
            return {"content": encoded, "encoding": "base64", **result}, None

    def _patch(self, path: str, edits: List[JsonObject]) -> None:
        text = self._file(path).decode("utf-8")
        for edit in edits:
            assert set(edit) <= {"old", "new", "all"}, edit
            times = text.count(edit["old"])
            if times == 0:
                raise Refusal(-32602, "no_match", path=path)
            if times > 1 and not edit.get("all"):
                raise Refusal(-32602, "ambiguous", path=path)
            text = text.replace(edit["old"], edit["new"])
        self.files[path] = text.encode("utf-8")

    def _list(self, path: str, params: JsonObject) -> JsonObject:
        prefix = "" if path == "." else path + "/"
        names = {one[len(prefix) :] for one in self.files if one.startswith(prefix)}
        found = sorted({(name.split("/")[0], "/" in name) for name in names})
        entries = [{"path": name, "kind": "dir" if is_dir else "file"} for name, is_dir in found]
        if "limit" not in params:
            return {"entries": entries}
        start = int(params.get("cursor", "0"))
        page: JsonObject = {"entries": entries[start : start + self.page_entries]}
        if start + self.page_entries < len(entries):
            page["next_cursor"] = str(start + self.page_entries)
        return page

    def _grep(self, params: JsonObject) -> JsonObject:
        text = re.escape(params["pattern"]) if params.get("literal") else params["pattern"]
        pattern = re.compile(text, re.IGNORECASE if params.get("ignore_case") else 0)
        matches = []
        for path, content in sorted(self.files.items()):
            below = [one for one in params.get("paths", ["."]) if one == "." or _is_in(path, one)]
            extensions = params.get("extensions", [path.rpartition(".")[2]])
            if not below or path.rpartition(".")[2] not in extensions:
                continue
            lines = content.decode("utf-8", "replace").splitlines()
            hits = [index for index, line in enumerate(lines) if pattern.search(line)]
            reach = params.get("context", 0)
            shown = [
                {"line_number": index + 1, "content": line, "is_match": index in hits}
                for index, line in enumerate(lines)
                if any(abs(index - hit) <= reach for hit in hits)
            ]
            if shown:
                matches.append({"path": path, "lines": shown})
        return {"matches": matches}


def _environment() -> Dict[str, str]:
    # The tests are about tools that buffer what they print, as they do by default.
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    return {**inherited, "PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1"}


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _is_final(message: JsonObject) -> bool:
    if message["method"] == "state":
        return bool(message["params"]["type"] == "stopped")
    return message["method"] in ("result", "error")


def _payload(params: JsonObject, key: str, blob: Optional[bytes]) -> bytes:
    if blob is not None:
        return blob
    if "encoding" in params:
        return base64.b64decode(params[key], validate=True)
    content: str = params[key]
    return content.encode("utf-8")


def tool(body: str) -> str:
    """The source of a tool whose function has this body."""
    head = "from jig_tool import vfs\n\n@vfs.tool\ndef test(host):\n"
    foot = '\n\nif __name__ == "__main__":\n    test.main()\n'
    return head + textwrap.indent(textwrap.dedent(body), "    ") + foot
