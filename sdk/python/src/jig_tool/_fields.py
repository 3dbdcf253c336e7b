"""Reading the fields of an object that the host sent."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Dict, List, Optional, Tuple

from jig_tool._errors import ProtocolError


class Fields:
    """An object of the host; ``what`` names it in errors.

    Fields that we don't know are never looked at, and one that is ``null`` counts as absent.
    """

    def __init__(self, what: str, value: object) -> None:
        if not isinstance(value, dict):
            raise ProtocolError(f"{what} must be an object")
        self.what = what
        self._members: Dict[str, Any] = value

    def has(self, key: str) -> bool:
        return self._members.get(key) is not None

    def text(self, key: str) -> str:
        value = self.optional_text(key)
        if value is None:
            raise self.unexpected(key, "a string")
        return value

    def optional_text(self, key: str) -> Optional[str]:
        value = self._members.get(key)
        if value is not None and not isinstance(value, str):
            raise self.unexpected(key, "a string")
        return value

    def integer(self, key: str, default: Optional[int] = None) -> int:
        value = self._members.get(key)
        if value is None:
            value = default
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.unexpected(key, "an integer")
        return value

    def optional_integer(self, key: str) -> Optional[int]:
        return self.integer(key) if self.has(key) else None

    def pair(self, key: str) -> Tuple[int, int]:
        value = self._members.get(key)
        if not isinstance(value, list) or [type(one) for one in value] != [int, int]:
            raise self.unexpected(key, "two integers")
        return value[0], value[1]

    def flag(self, key: str, default: Optional[bool] = None) -> bool:
        value = self._members.get(key)
        if value is None:
            value = default
        if not isinstance(value, bool):
            raise self.unexpected(key, "`true` or `false`")
        return value

    def is_there(self, key: str) -> bool:
        """Whether an optional part is there: an object or ``true``."""
        value = self._members.get(key)
        if value is not None and not isinstance(value, (dict, bool)):
            raise self.unexpected(key, "an object")
        return isinstance(value, dict) or value is True

    def mapping(self, key: str) -> Dict[str, Any]:
        value = self._members.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.unexpected(key, "an object")
        return value

    def optional_object(self, key: str) -> Optional[Fields]:
        if not self.has(key):
            return None
        return Fields(f"`{key}` of {self.what}", self._members[key])

    def objects(self, key: str) -> List[Fields]:
        value = self._members.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.unexpected(key, "a list")
        return [Fields(f"each of `{key}` of {self.what}", one) for one in value]

    def texts(self, key: str) -> Optional[List[str]]:
        value = self._members.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.unexpected(key, "a list of strings")
        return value

    def payload(self, key: str, blob: Optional[bytes]) -> bytes:
        """The content of the field ``key``, which is either here or followed the line."""
        if blob is not None:
            if self.has(key):
                raise self.unexpected(key, "absent, because a blob follows")
            return blob
        content = self.text(key)
        encoding = self.optional_text("encoding")
        try:
            if encoding is None:
                return content.encode("utf-8")
            if encoding == "base64":
                return base64.b64decode(content.encode("ascii"), validate=True)
        except (UnicodeEncodeError, binascii.Error) as error:
            raise self.unexpected(key, "UTF-8, or base64 with padding") from error
        raise self.unexpected("encoding", "`base64`, or absent for text")

    def unexpected(self, key: str, expected: str) -> ProtocolError:
        return ProtocolError(f"{self.what} is malformed: `{key}` must be {expected}")
