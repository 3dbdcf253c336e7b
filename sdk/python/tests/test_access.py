"""The checks of :mod:`jig_tool.access`, by the table that the SDK for Rust is tested with, too."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from jig_tool import access  # noqa: E402

CASES: Dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "cases" / "access.json").read_text(encoding="utf-8")
)


class Cases(unittest.TestCase):
    """G-059, G-103 to G-107: every SDK does the same steps."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(os.path.realpath(folder.name), "ws")
        tree = CASES["tree"]
        for path in tree["dirs"]:
            os.makedirs(os.path.join(self.root, path))
        for path in tree["files"]:
            Path(self.root, path).write_text("")
        for path in tree["outside"]:
            Path(folder.name, path).write_text("")
        for path, target in tree["links"].items():
            os.symlink(self.named(target), os.path.join(self.root, path))

    def named(self, text: str) -> str:
        return text.replace("{root}", self.root)

    def rules(self, declared: Any) -> access.Access:
        return access.Access.of_context({"root": self.root, "action": "run", "access": declared})

    def test_checks(self) -> None:
        for group in CASES["groups"]:
            rules = self.rules(group["access"])
            for capability, path, expected in group.get("checks", []):
                with self.subTest(group["name"], capability=capability, path=path):
                    check = getattr(rules, f"check_{capability}")
                    try:
                        found = os.path.relpath(check(self.named(path)), self.root)
                        answer = f"ok: {'' if found == '.' else found}"
                    except access.FsAccessError as error:
                        answer = str(error)
                        if isinstance(error, access.Denied) and "grants" in group:
                            self.assertEqual(list(error.grants), group["grants"])
                    self.assertEqual(answer, self.named(expected))

    def test_canonical_paths(self) -> None:
        """G-105."""
        for group in CASES["groups"]:
            rules = self.rules(group["access"])
            for capability, path, expected in group.get("can", []):
                with self.subTest(group["name"], capability=capability, path=path):
                    self.assertEqual(getattr(rules, f"can_{capability}")(path), expected)

    def test_hosts_and_variables(self) -> None:
        """G-106: each has errors of its own."""
        for group in CASES["groups"]:
            rules = self.rules(group["access"])
            for text, expected in group.get("net", []):
                method, url = text.split(" ", 1) if re.match("[A-Z]+ ", text) else ("GET", text)
                with self.subTest(group["name"], url=text):
                    answer = "ok"
                    try:
                        rules.check_request(method, url)
                    except access.NetAccessError as error:
                        answer = str(error)
                        if error.host is not None:
                            self.assertEqual(list(error.grants), group["net_grants"])
                    self.assertEqual(answer, expected)
                    if method == "GET":
                        self.assertEqual(rules.can_reach(url), expected == "ok")
            for name, expected in group.get("env", []):
                with self.subTest(group["name"], variable=name):
                    answer = "ok"
                    try:
                        rules.check_env(name)
                    except access.EnvAccessError as error:
                        answer = str(error)
                        self.assertEqual(error.name, name)
                        self.assertEqual(list(error.grants), group["env_grants"])
                    self.assertEqual(answer, expected)
                    self.assertEqual(rules.can_read_env(name), expected == "ok")

    def test_rules_that_cannot_be_used(self) -> None:
        for declared in CASES["bad_rules"]:
            with self.subTest(declared):
                with self.assertRaises(ValueError):
                    self.rules(declared)

    def test_error_types(self) -> None:
        """G-106: no type stands for all of them."""
        kinds = [access.FsAccessError, access.NetAccessError, access.EnvAccessError]
        for kind in kinds:
            for other in kinds:
                self.assertEqual(issubclass(kind, other), kind is other)
        for narrow in (access.Outside, access.Escape, access.Denied, access.Invalid):
            self.assertTrue(issubclass(narrow, access.FsAccessError))


if __name__ == "__main__":
    unittest.main()
