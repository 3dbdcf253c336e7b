"""A proxy for the tests: it speaks the protocol over real sockets and pipes.

It serves files in memory, and is stricter than a proxy must be: a request that is not exactly of
the protocol is noted in ``faults``, which every test looks at in the end.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

SDK = Path(__file__).resolve().parent.parent / "src"
# The package is tested as it lies here, whether or not one is installed.
sys.path.insert(0, str(SDK))

JsonObject = Dict[str, Any]

# The params of each operation: which must be there, and which may, with their types.
PARAMS: Dict[str, Tuple[Dict[str, Any], Dict[str, Any]]] = {
    "open": ({"path": str, "mode": str}, {"is_top_level": bool}),
    "read": ({"h": int}, {"max": int}),
    "write": ({"h": int, "data": str}, {"final": bool}),
    "close": ({"h": int}, {}),
    "list": ({"path": str}, {"after": str}),
    "QUOTA": ({}, {}),
    "LLMCMD": (
        {},
        {
            "prompt": str,
            "messages": list,
            "input": str,
            "files": list,
            "paths": list,
            "stdin": int,
            "stdout": int,
            "stderr": int,
            "stream": bool,
            "max_tokens": int,
            "temperature": (int, float),
            "is_top_level": bool,
        },
    ),
}

QUOTA: JsonObject = {
    "used": 1250.5,
    "reserved": 0,
    "limit": 5000,
    "remaining": 3749.5,
    "percent": 25.01,
    "calls": 3,
    "input_tokens": 10,
    "cached_tokens": 4,
    "output_tokens": 310,
}


class Refusal(Exception):
    """An error to answer with."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}


class OpenFile:
    def __init__(self, path: str, mode: str) -> None:
        self.path = path
        self.mode = mode
        self.offset = 0


class Proxy:
    """Serves one client in a thread, and keeps all that it said.

    ``on_request`` may answer a request itself: it returns the result, raises a ``Refusal``, or
    returns ``None`` to leave it to this class.
    """

    def __init__(self, **files: bytes) -> None:
        self.files: Dict[str, bytes] = {"denied": b"", **files}
        self.open_files: Dict[int, OpenFile] = {}
        self.streams: Dict[int, bytearray] = {0: bytearray(), 1: bytearray(), 2: bytearray()}
        self.next_handle = 3
        self.requests: List[JsonObject] = []
        self.faults: List[str] = []
        self.on_request: Optional[Callable[[JsonObject], Optional[JsonObject]]] = None
        self.llm_answer = "An answer."
        # How many requests had come, at most, when the first of them was answered.
        self.most_in_flight = 0
        self.ended = threading.Event()

    def connect(self) -> socket.socket:
        """The client's end of a new connection."""
        ours, theirs = socket.socketpair()
        self._start(ours.fileno(), ours.fileno(), ours)
        return theirs

    def pair(self) -> Tuple[int, int]:
        """The client's ends of two pipes: to read from, and to write to."""
        (client_read, our_write), (our_read, client_write) = os.pipe(), os.pipe()
        self._start(our_read, our_write, None)
        return client_read, client_write

    def asked(self, op: str) -> List[JsonObject]:
        """The params of all requests of an operation."""
        return [request["params"] for request in self.requests if request["op"] == op]

    def _start(self, read_fd: int, write_fd: int, owner: Optional[socket.socket]) -> None:
        def serve() -> None:
            try:
                self._serve(read_fd, write_fd)
            except OSError as error:
                self.faults.append(f"the connection broke: {error}")
            finally:
                self.open_files.clear()
                if owner is not None:
                    owner.close()
                else:
                    os.close(read_fd)
                    os.close(write_fd)
                self.ended.set()

        threading.Thread(target=serve, daemon=True).start()

    def _serve(self, read_fd: int, write_fd: int) -> None:
        buffer = b""
        while True:
            chunk = os.read(read_fd, 1 << 20)
            if not chunk:
                if buffer:
                    self.faults.append(f"half a frame at the end: {buffer!r}")
                return
            buffer += chunk
            frames: List[bytes] = []
            while len(buffer) >= 4 and len(buffer) - 4 >= int.from_bytes(buffer[:4], "big"):
                end = 4 + int.from_bytes(buffer[:4], "big")
                frames.append(buffer[4:end])
                buffer = buffer[end:]
            self.most_in_flight = max(self.most_in_flight, len(frames))
            for frame in frames:
                answer = json.dumps(self._answer(json.loads(frame))).encode()
                self.send(write_fd, len(answer).to_bytes(4, "big") + answer)

    @staticmethod
    def send(write_fd: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(write_fd, rest) :]

    def _answer(self, request: JsonObject) -> JsonObject:
        self._check(request)
        self.requests.append(request)
        answer: JsonObject = {"id": request["id"], "ok": True}
        try:
            result = self.on_request(request) if self.on_request is not None else None
            if result is None:
                result = getattr(self, "_" + request["op"].lower())(**request["params"])
            if result:
                answer["result"] = result
        except Refusal as refusal:
            answer = {"id": request["id"], "ok": False, "error": refusal.error}
        return answer

    def _check(self, request: JsonObject) -> None:
        if set(request) != {"id", "op", "params"} or not isinstance(request["id"], str):
            self.faults.append(f"not a request: {request}")
            return
        required, optional = PARAMS[request["op"]]
        params = request["params"]
        known = {**required, **optional}
        for key, value in params.items():
            if key not in known or not isinstance(value, known[key]):
                self.faults.append(f"unexpected `{key}`: {request}")
        if not set(required) <= set(params):
            self.faults.append(f"incomplete: {request}")

    def _open(self, path: str, mode: str, is_top_level: bool = True) -> JsonObject:
        if path.startswith("denied"):
            raise Refusal("E_PERM", f"{mode} on `{path}` is denied by a rule")
        if mode == "r" and path not in self.files:
            raise Refusal("E_NOENT", f"`{path}` does not exist")
        if mode == "w":
            self.files[path] = b""
        self.files.setdefault(path, b"")
        handle, self.next_handle = self.next_handle, self.next_handle + 1
        self.open_files[handle] = OpenFile(path, mode)
        return {"handle": handle}

    def _file(self, handle: int, modes: Tuple[str, ...]) -> OpenFile:
        if handle not in self.open_files:
            raise Refusal("E_CLOSED", f"handle {handle} is not open")
        if self.open_files[handle].mode not in modes:
            raise Refusal("E_PERM", "not open for that")
        return self.open_files[handle]

    def _read(self, h: int, max: int = 4096) -> JsonObject:
        if not 0 < max <= 4096:
            self.faults.append(f"a read of {max} bytes")
        if h == 0:
            data, self.streams[0] = bytes(self.streams[0][:max]), self.streams[0][max:]
            return {"data": base64.b64encode(data).decode(), "eof": not self.streams[0]}
        file = self._file(h, ("r", "rw"))
        content = self.files[file.path]
        data = content[file.offset : file.offset + max]
        file.offset += len(data)
        return {"data": base64.b64encode(data).decode(), "eof": file.offset >= len(content)}

    def _write(self, h: int, data: str, final: bool = False) -> JsonObject:
        decoded = base64.b64decode(data, validate=True)
        if h in (1, 2):
            self.streams[h] += decoded
            return {"written": len(decoded)}
        file = self._file(h, ("w", "a", "rw"))
        content = self.files[file.path]
        offset = len(content) if file.mode == "a" else file.offset
        self.files[file.path] = content[:offset] + decoded + content[offset + len(decoded) :]
        file.offset = offset + len(decoded)
        return {"written": len(decoded)}

    def _close(self, h: int) -> JsonObject:
        if h < 3:
            self.faults.append("a standard stream was closed")
        elif self.open_files.pop(h, None) is None:
            raise Refusal("E_CLOSED", f"handle {h} is not open")
        return {}

    def _list(self, path: str, after: str = "") -> JsonObject:
        if path != ".":
            raise Refusal("E_NOENT", f"`{path}` does not exist")
        names = sorted(name for name in self.files if name > after)
        entries = [{"name": name, "kind": "file"} for name in names[:2]]
        return {"entries": entries, "more": len(names) > 2}

    def _quota(self) -> JsonObject:
        return QUOTA

    def _llmcmd(self, **params: Any) -> JsonObject:
        text = self.llm_answer.encode()
        reply: JsonObject = {
            "model": "test-model",
            "finish_reason": "stop",
            "usage": {
                "input_tokens": 5,
                "cached_tokens": 1,
                "output_tokens": 3,
                "weighted": 16.25,
            },
            "quota": QUOTA,
        }
        for handle in params.get("files", []):
            if handle == 0:
                self.streams[0].clear()
                continue
            self._file(handle, ("r", "rw")).offset = 1 << 40
        if "stdout" in params:
            data = base64.b64encode(text).decode()
            return {**reply, **self._write(params["stdout"], data)}
        return {**reply, "content": self.llm_answer}
