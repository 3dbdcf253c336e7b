"""The official conformance suite of the protocol, with jig as the client of the suite's servers.

Every client scenario of the suite is run at 2025-11-25 and at 2026-07-28 where it belongs to them. It passes, or
it stands in `client_not_applicable.toml` with a reason. What stands there and passes after all is a failure, too.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import tempfile
import tomllib
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from serving import PATIENCE
from test_conformance import BAD, VERSIONS, Outcome, suite

HERE = Path(__file__).parent


def scenarios() -> list[tuple[str, str]]:
    """All client scenarios of the suite, each with a version at which it is run here."""
    found = []
    for line in suite("list", "--client").splitlines():
        entry = re.fullmatch(r"\s*- (\S+) \[(.*)\]", line)
        if entry is not None:
            versions = entry.group(2).split(",")
            # Those of extensions, and of versions before ours, run at whatever the suite takes for them.
            at = [version for version in VERSIONS if version in versions] or [""]
            found += [(entry.group(1), version) for version in at]
    return found


def excused() -> list[str]:
    """The patterns of what does not apply."""
    entries = tomllib.loads((HERE / "client_not_applicable.toml").read_text(encoding="utf-8"))
    assert all(entry["reason"] for entry in entries["not_applicable"])
    return [entry["scenario"] for entry in entries["not_applicable"]]


def run(scenario: str, version: str) -> tuple[Outcome, str]:
    """What the suite says about jig in a scenario, and all that was printed."""
    with tempfile.TemporaryDirectory() as folder:
        # The suite hands this to a shell, with the address of its server behind it.
        command = f"{shlex.quote(os.environ['JIG'])} mcp --conformance-client"
        at = ("--spec-version", version) if version else ()
        said = suite(
            *("client", "--command", command, "--scenario", scenario, "--output-dir", folder, *at),
            timeout=2 * PATIENCE,
        )
        outcome = Outcome()
        for file in Path(folder).rglob("checks.json"):
            for check in json.loads(file.read_text(encoding="utf-8")):
                outcome.add(check)
        return outcome, said


class ClientConformance(unittest.TestCase):
    def test_every_scenario_passes_or_does_not_apply(self) -> None:
        all_of_them = scenarios()
        self.assertGreater(len(all_of_them), 40, "the suite lists its scenarios")
        patterns = excused()
        names = {name for name, _ in all_of_them}
        for pattern in patterns:
            self.assertTrue(fnmatch.filter(names, pattern), f"nothing is called {pattern}")
        passed = 0
        with ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(lambda one: run(*one), all_of_them))
        for (name, version), (outcome, said) in zip(all_of_them, outcomes, strict=True):
            with self.subTest(scenario=name, version=version):
                if any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
                    self.assertFalse(outcome.has_passed, "it is listed, but it passes")
                    continue
                bad = {check: outcome.messages[check] for check, state in outcome.checks.items() if state in BAD}
                self.assertFalse(bad, f"{json.dumps(bad, indent=2)}\n{said}")
                self.assertTrue(outcome.has_checked, f"nothing of it was checked: {said}")
                passed += 1
        print(f"{passed} of {len(all_of_them)} passed, the others do not apply", flush=True)


if __name__ == "__main__":
    unittest.main()
