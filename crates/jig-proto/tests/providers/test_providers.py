"""What jig publishes of a tool is taken by the providers' own libraries, without any network.

`published.json` is written by the test `published` of this crate, which also fails if it is not up
to date. Run by `cargo xtask test`, in an environment that has `requirements.txt`.
"""

from __future__ import annotations

import copy
import json
import logging
import re
import unittest
from pathlib import Path
from typing import Any, Callable, Iterator

import anthropic
from agents.strict_schema import ensure_strict_json_schema
from anthropic.types import ToolParam
from anthropic.types.tool_param import InputSchemaTyped
from google.genai import types as gemini
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

Schema = dict[str, Any]

HERE = Path(__file__).parent
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def take_gemini(name: str, description: str, schema: Schema) -> None:
    """Converts it to the type of the API, which has no place for what the API does not take."""
    converted = gemini.Schema.from_json_schema(
        json_schema=gemini.JSONSchema.model_validate(schema),
        raise_error_on_unsupported_field=True,
    )
    if converted.type != gemini.Type.OBJECT or converted.any_of:
        raise ValueError("the root must be an object and nothing else")
    check_gemini(converted, "$")
    declaration = gemini.FunctionDeclaration(
        name=name, description=description, parameters=converted
    )
    gemini.Tool(function_declarations=[declaration])


def check_gemini(schema: gemini.Schema, at: str) -> None:
    """What the API checks and the library does not: every value has a type, and nothing beside `any_of`."""
    if schema.any_of:
        for index, variant in enumerate(schema.any_of):
            check_gemini(variant, f"{at}.any_of[{index}]")
        beside = schema.model_dump(exclude_none=True).keys() - {"any_of", "nullable"}
        if beside:
            raise ValueError(f"{at}: {beside} beside `any_of`")
        return
    if schema.type is None:
        raise ValueError(f"{at}: the type must be specified")
    if schema.type == gemini.Type.ARRAY and schema.items is None:
        raise ValueError(f"{at}: an array without items")
    if schema.type == gemini.Type.OBJECT and not schema.properties and at != "$":
        raise ValueError(f"{at}: an object without properties")
    for name, inner in (schema.properties or {}).items():
        check_gemini(inner, f"{at}.{name}")
    if schema.items is not None:
        check_gemini(schema.items, f"{at}[]")


def take_anthropic(name: str, description: str, schema: Schema) -> None:
    """As a plain tool, and as a strict one, which is rewritten to the part that the API takes."""
    for one in (schema, anthropic.transform_schema(copy.deepcopy(schema))):
        if {"oneOf", "anyOf", "allOf"} & one.keys():
            raise ValueError("the API takes no `oneOf`, `anyOf` or `allOf` at the root")
        TypeAdapter(InputSchemaTyped).validate_python(one)
        tool = {"name": name, "description": description, "input_schema": one}
        TypeAdapter(ToolParam).validate_python(tool)


def take_openai(name: str, description: str, schema: Schema) -> None:
    """As a strict tool, which is the narrower of the two kinds."""
    strict = ensure_strict_json_schema(copy.deepcopy(schema))
    if strict.get("type") != "object" or {"oneOf", "anyOf", "allOf", "not", "enum"} & strict.keys():
        raise ValueError("the root must be an object and nothing else")
    tool = {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": strict,
        "strict": True,
    }
    TypeAdapter(FunctionToolParam).validate_python(tool)


PROVIDERS: dict[str, Callable[[str, str, Schema], None]] = {
    "gemini": take_gemini,
    "anthropic": take_anthropic,
    "openai": take_openai,
}


class Published(unittest.TestCase):
    def setUp(self) -> None:
        # Gemini's library warns that it splits lists of types.
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)
        text = (HERE / "published.json").read_text(encoding="utf-8")
        self.tools: list[Schema] = json.loads(text)

    def forms(self, *names: str) -> Iterator[tuple[Schema, Schema]]:
        for tool in self.tools:
            for form in names:
                for published in tool["forms"][form]:
                    yield tool, published

    def test_s055_what_is_published_is_taken_by_every_provider(self) -> None:
        checked = 0
        for _, published in self.forms("flat", "split"):
            self.assertRegex(published["name"], NAME)
            self.assertLessEqual(len(published["name"]), 64)
            for provider, take in PROVIDERS.items():
                with self.subTest(provider=provider, tool=published["name"]):
                    take(published["name"], published["description"], published["parameters"])
                    checked += 1
        self.assertGreater(checked, 60)

    def test_names_are_unique(self) -> None:
        for form in ("flat", "split", "oneof"):
            names = [published["name"] for _, published in self.forms(form)]
            self.assertEqual(len(names), len(set(names)), form)

    def test_the_form_with_one_of_is_taken_by_none(self) -> None:
        for tool, published in self.forms("oneof"):
            if not tool["actions"]:
                continue
            for provider, take in PROVIDERS.items():
                with self.subTest(provider=provider, tool=tool["name"]):
                    with self.assertRaises(Exception):
                        take(published["name"], "", published["parameters"])

    def test_a_bad_schema_is_refused(self) -> None:
        """Proves that the checks above can fail."""
        good: Schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        for take in PROVIDERS.values():
            take("t", "", good)
        bad: list[tuple[Schema, set[str]]] = [
            ({**good, "oneOf": [{"required": ["a"]}]}, {"gemini", "anthropic", "openai"}),
            ({**good, "anyOf": [good, good]}, {"gemini", "anthropic", "openai"}),
            ({"type": "object", "properties": {"a": {"const": "x"}}}, {"gemini"}),
            ({"type": "object", "properties": {"a": {}}}, {"gemini", "anthropic"}),
            ({"type": "object", "properties": {"a": {"enum": ["x"]}}}, {"gemini"}),
            ({"type": "object", "properties": {"a": {"type": "array"}}}, {"gemini"}),
            ({"type": "object", "properties": {"a": {"type": "object"}}}, {"gemini"}),
            (
                {
                    "type": "object",
                    "properties": {"a": {"anyOf": [{"type": "string"}], "description": "d"}},
                },
                {"gemini"},
            ),
            ({"$schema": "x", **good}, {"gemini"}),
            ({"type": "array", "items": {"type": "string"}}, {"gemini", "anthropic", "openai"}),
            ({"type": "object", "properties": {"a": {"$ref": "#/$defs/nothing"}}}, {"gemini"}),
            ({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}, {"anthropic"}),
        ]
        for schema, refused_by in bad:
            for provider in sorted(refused_by):
                with self.subTest(provider=provider, schema=schema):
                    with self.assertRaises(Exception):
                        PROVIDERS[provider]("t", "", schema)


if __name__ == "__main__":
    unittest.main()
