"""Programs from npm, run by the Node that was installed with them.

`JIG_NODE_PROGRAMS` in the environment is the folder that has them.
"""

from __future__ import annotations

import os
from pathlib import Path

PROGRAMS = Path(os.environ["JIG_NODE_PROGRAMS"])


def interpreter() -> list[str]:
    """The word that starts Node."""
    # Not every system has a package with a Node in it; there, the one of the machine must be new enough.
    own = PROGRAMS / "node"
    return [str(own) if own.exists() else "node"]


def command(program: str) -> list[str]:
    """The words that start a program of a package."""
    return [*interpreter(), str(PROGRAMS / program)]
