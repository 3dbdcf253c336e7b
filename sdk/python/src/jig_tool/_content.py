"""What a tool shows and asks: texts, resources and questions."""

from __future__ import annotations

import base64
import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

JsonObject = Dict[str, Any]


@dataclass(frozen=True)
class Text:
    """A block of text, formatted by the tool."""

    text: str
    """The text."""
    mime_type: Optional[str] = None
    """Its MIME type."""

    def to_json(self) -> JsonObject:
        """The block as it is sent."""
        return _without_none({"type": "text", "text": self.text, "mimeType": self.mime_type})


@dataclass(frozen=True)
class Resource:
    """Content with an identity, such as a file."""

    uri: str
    """What it is the content of."""
    data: Union[str, bytes]
    """The content: text or bytes."""
    mime_type: Optional[str] = None
    """Its MIME type, which decides how it is shown."""
    formatted: Optional[str] = None
    """The content as the tool wants it shown."""
    name: Optional[str] = None
    """A short name."""
    title: Optional[str] = None
    """A title for people."""
    description: Optional[str] = None
    """What it is, in a sentence."""

    def to_json(self) -> JsonObject:
        """The block as it is sent."""
        inner = {
            "uri": self.uri,
            "mimeType": self.mime_type,
            "text": self.data if isinstance(self.data, str) else None,
            "blob": None if isinstance(self.data, str) else to_base64(self.data),
        }
        return _without_none(
            {
                "type": "resource",
                "resource": _without_none(inner),
                "formatted": self.formatted,
                "name": self.name,
                "title": self.title,
                "description": self.description,
            }
        )


@dataclass(frozen=True)
class Question:
    """What a tool wants to know before it goes on; :meth:`jig_tool.vfs.Host.ask` asks it."""

    id: str
    """The key under which the answer is kept: the same question has the same id in every call."""
    text: str
    """One line, shown beside the input."""
    schema: Union[JsonObject, bool]
    """The JSON Schema that the answer must match."""
    context: Optional[str] = None
    """What to know before answering, shown above the question."""
    default: Any = None
    """The answer that is taken if the asked one just confirms; ``None`` for none."""

    @classmethod
    def yes_no(cls, id: str, text: str, **more: Any) -> Question:
        """A question that is answered by yes or no."""
        return cls(id, text, {"type": "boolean"}, **more)

    @classmethod
    def line(cls, id: str, text: str, **more: Any) -> Question:
        """A question that is answered by any text."""
        return cls(id, text, {"type": "string"}, **more)

    @classmethod
    def select(cls, id: str, text: str, options: Sequence[str], **more: Any) -> Question:
        """A question that is answered by one of ``options``."""
        return cls(id, text, {"type": "string", "enum": list(options)}, **more)

    def to_json(self) -> JsonObject:
        """The question as it is sent."""
        return _without_none(
            {
                "id": self.id,
                "text": self.text,
                "context": self.context,
                "schema": self.schema,
                "default": self.default,
            }
        )


Block = Union[Text, Resource, Mapping[str, Any]]
Content = Union[None, str, Block, Sequence[Block]]


def content_to_json(content: object) -> Union[str, List[JsonObject]]:
    """Content as it is sent.

    Text and blocks are what they are, ``None`` is nothing. Every other value is shown as JSON, so
    that a tool can return what it has computed.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    block = _block(content)
    if block is not None:
        return [block]
    if isinstance(content, (list, tuple)) and content:
        blocks = [_block(one) for one in content]
        found = [one for one in blocks if one is not None]
        if len(found) == len(blocks):
            return found
    return json.dumps(content, ensure_ascii=False, indent=2, default=_plain)


def to_base64(data: bytes) -> str:
    """Base64 with padding, as the protocol has it."""
    return base64.b64encode(data).decode("ascii")


def _block(value: object) -> Optional[JsonObject]:
    if isinstance(value, (Text, Resource)):
        return value.to_json()
    # The host skips a block that it can't read, so only what is complete counts as one.
    if isinstance(value, Mapping):
        kind = value.get("type")
        needed = _NEEDED.get(kind) if isinstance(kind, str) else None
        if kind is not None and needed is not None and isinstance(value.get(kind), needed):
            return dict(value)
    return None


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"a {type(value).__name__} can't be shown as JSON")


def _without_none(members: JsonObject) -> JsonObject:
    return {key: value for key, value in members.items() if value is not None}


# The type of the member that a block of each type has under the name of its type.
_NEEDED = {"text": str, "resource": Mapping, "question": Mapping}
