"""The official conformance suite of the protocol against `jig mcp --conformance`.

Every server scenario of the suite is run, at 2025-11-25 and at 2026-07-28 where it belongs to them, and those
of extensions at the latter. It passes, or it stands in `not_applicable.toml` with a reason, as a whole or by
the checks that do not apply. What stands there and passes after all, or is not there at all, is a failure,
too: the list cannot get stale.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import node
from serving import PATIENCE, Workspace, http

HERE = Path(__file__).parent

VERSIONS = ("2025-11-25", "2026-07-28")

# The version at which scenarios of extensions run.
LATEST = VERSIONS[-1]

BAD = {"FAILURE", "WARNING"}


@dataclass
class Outcome:
    """What a scenario came to at one version: the state of each check, the worst where there are several."""

    checks: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)

    @property
    def bad(self) -> set[str]:
        return {check for check, state in self.checks.items() if state in BAD}

    @property
    def has_passed(self) -> bool:
        return not self.bad and self.has_checked

    @property
    def has_checked(self) -> bool:
        """Whether something was found right, other than the form of messages, which is checked everywhere."""
        states = {state for check, state in self.checks.items() if not check.startswith("wire-schema-")}
        return "SUCCESS" in states

    def add(self, check: dict[str, Any]) -> None:
        name, state = check["id"], check["status"]
        if name not in self.checks or state in BAD:
            self.checks[name] = state
        if state in BAD:
            self.messages[name] = str(check.get("errorMessage"))


def suite(*arguments: str, timeout: float = PATIENCE) -> str:
    done = subprocess.run(
        [*node.command("conformance"), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
    )
    return done.stdout


def scenarios() -> dict[str, set[str]]:
    """All server scenarios of the suite, with the versions at which they are run here."""
    found = {}
    for line in suite("list", "--server").splitlines():
        entry = re.fullmatch(r"\s*- (\S+) \[(.*)\]", line)
        if entry is not None:
            versions = entry.group(2).split(",")
            found[entry.group(1)] = (
                {LATEST} if versions == ["extension"] else set(versions) & set(VERSIONS)
            )
    return found


def excused() -> dict[tuple[str, str], dict[str | None, str]]:
    """What does not apply, by scenario and version: checks, or `None` for the whole, with the reason."""
    entries = tomllib.loads((HERE / "not_applicable.toml").read_text(encoding="utf-8"))
    found: dict[tuple[str, str], dict[str | None, str]] = {}
    for entry in entries["not_applicable"]:
        for version in entry.get("versions", VERSIONS):
            checks = found.setdefault((entry["scenario"], version), {})
            for check in entry.get("checks", [None]):
                assert check not in checks, f"{entry['scenario']} {check} stands there twice"
                checks[check] = entry["reason"]
    return found


def outcomes_in(folder: Path, names: list[str]) -> dict[str, Outcome]:
    """What the suite has written: a folder for each scenario, named by it and by the time."""
    found: dict[str, Outcome] = {}
    for file in sorted(folder.glob("server-*/checks.json")):
        name = next(name for name in names if re.fullmatch(f"server-{name}-[0-9T_Z:.-]+", file.parent.name))
        outcome = found.setdefault(name, Outcome())
        for check in json.loads(file.read_text(encoding="utf-8")):
            outcome.add(check)
    return found


class Conformance(unittest.TestCase):
    def run_all(self) -> dict[tuple[str, str], Outcome]:
        workspace = Workspace({})
        self.addCleanup(workspace.close)
        all_of_them = scenarios()
        self.assertGreater(len(all_of_them), 60, "the suite lists its scenarios")
        with http(workspace, "--conformance", token=None) as server, ThreadPoolExecutor(2) as pool:

            def run(version: str) -> dict[tuple[str, str], Outcome]:
                folder = workspace.home / version
                names = [name for name, versions in all_of_them.items() if version in versions]
                to_here = ("server", "--url", server.url, "--output-dir", str(folder))
                # What the version requires, frozen; then what the suite has got since, one by one.
                said = suite(*to_here, "--requirements", version, timeout=10 * PATIENCE)
                for name in sorted(set(names) - set(outcomes_in(folder, names))):
                    one = ("--scenario", name, "--spec-version", version, "--force")
                    said += suite(*to_here, *one, timeout=2 * PATIENCE)
                found = outcomes_in(folder, names)
                self.assertEqual(set(found), set(names), f"each scenario was run: {said}")
                return {(name, version): outcome for name, outcome in found.items()}

            merged = {}
            for outcomes in pool.map(run, VERSIONS):
                merged.update(outcomes)
            return merged

    def test_every_scenario_passes_or_does_not_apply(self) -> None:
        outcomes = self.run_all()
        listed = excused()
        for key in listed:
            with self.subTest(listed=key):
                self.assertIn(key, outcomes, "it is listed, but the suite has no such scenario")
        passed = 0
        for key, outcome in outcomes.items():
            scenario, version = key
            with self.subTest(scenario=scenario, version=version):
                checks = listed.get(key, {})
                if None in checks:
                    self.assertFalse(outcome.has_passed, "it is listed, but it passes")
                    continue
                stale = {check for check in checks if outcome.checks.get(str(check)) not in BAD}
                self.assertFalse(stale, "these checks are listed, but they pass or do not exist")
                unexpected = {check: outcome.messages[check] for check in outcome.bad - set(checks)}
                self.assertFalse(unexpected, json.dumps(unexpected, indent=2))
                self.assertTrue(outcome.has_checked, "nothing of it was checked")
                passed += 1
        print(f"{passed} of {len(outcomes)} passed, the others do not apply", flush=True)


if __name__ == "__main__":
    unittest.main()
