"""`my_tool` counts the lines, words and bytes of a text file.

Files are opened as anywhere. jig's rules decide about each of them: what they do not allow fails here with
`PermissionError`.
"""

import json

import wit_world
from wit_world import exports
from wit_world.exports.describe import Description
from wit_world.imports import types


class WitWorld(wit_world.WitWorld):
    def run(self, ctx: types.Context, name: str, arguments: str, answers: str) -> types.Outcome:
        path = json.loads(arguments).get("path")
        if not isinstance(path, str):
            return failed("Invalid arguments: `path` must be a string")
        if ctx.action == types.Action.FORMAT_ARGUMENTS:
            # What a person reads before the tool runs.
            return types.Outcome_Success(f"count {path}")
        try:
            with open(f"{ctx.root}/{path}", "rb") as file:
                content = file.read()
        except OSError as error:
            return failed(f"Failed to read `{path}`: {error.strerror}")
        return types.Outcome_Success(f"{path}: {counted(content)}")


def counted(content: bytes) -> str:
    lines, words = len(content.splitlines()), len(content.split())
    return f"{lines} lines, {words} words, {len(content)} bytes"


def failed(message: str) -> types.Outcome:
    return types.Outcome_Error(types.ErrorInfo(message, [], False))


class Describe(exports.Describe):
    """What jig tells a model about the tool. It is asked for once, without access to anything."""

    def describe(self) -> list[Description]:
        parameters = {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file, relative to the workspace.",
                },
            },
            "required": ["path"],
        }
        text = "Counts the lines, words and bytes of a text file."
        return [Description("my_tool", text, json.dumps(parameters))]
