"""`csv_stats` tells what is in the columns of a CSV file.

A Wasm component in Python, built by componentize-py. Files are opened as anywhere; the rules in `jig.toml`
decide about each of them.
"""

import csv
import io
import json

import wit_world
from wit_world import exports
from wit_world.exports.describe import Description
from wit_world.imports import types


class WitWorld(wit_world.WitWorld):
    def run(self, ctx: types.Context, name: str, arguments: str, answers: str) -> types.Outcome:
        given = json.loads(arguments)
        path = given.get("path")
        if not isinstance(path, str):
            return failed("Invalid arguments: `path` must be a string")
        if ctx.action == types.Action.FORMAT_ARGUMENTS:
            return types.Outcome_Success(f"the columns of {path}")
        try:
            with open(f"{ctx.root}/{path}", encoding="utf-8", newline="") as file:
                text = file.read()
        except OSError as error:
            return failed(f"Failed to read `{path}`: {error.strerror}")
        except UnicodeDecodeError:
            return failed(f"`{path}` is not text in UTF-8")
        return types.Outcome_Success(stats(text, given.get("delimiter", ",")))


def stats(text: str, delimiter: str) -> str:
    rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    if not rows:
        return "0 rows"
    lines = [f"{len(rows)} rows"]
    for column in rows[0]:
        values = [row[column] for row in rows if row[column]]
        lines.append(f"{column}: {column_stats(values)}")
    return "\n".join(lines)


def column_stats(values: list[str]) -> str:
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return f"{len(set(values))} different texts"
    if not numbers:
        return "empty"
    mean = sum(numbers) / len(numbers)
    return f"{min(numbers):g} to {max(numbers):g}, mean {mean:g}"


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
                "delimiter": {
                    "type": "string",
                    "description": "What stands between two columns.",
                    "default": ",",
                },
            },
            "required": ["path"],
        }
        text = "Tells what is in the columns of a CSV file."
        return [Description("csv_stats", text, json.dumps(parameters))]
