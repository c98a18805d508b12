"""The locked requirements are those of pyproject.toml, in the versions of constraints.txt, each with checksums."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
BUILDS_DIFFER = "torch"


def locked(name: str) -> dict[str, str]:
    """Versions of one list; every entry has a checksum."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.findall(
        r"^(\S+)==(\S+) (?:\\\n    --hash=sha256:[0-9a-f]{64} ?)+$", text, re.MULTILINE
    )
    assert len(entries) == text.count("==")
    return dict(entries)


def test_the_lists_are_the_pinned_versions():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    pinned = {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in lines}
    lists = [locked(name) for name in ("run", "dev", "docs")]
    together = {name: version for one in lists for name, version in one.items()}
    assert sum(map(len, lists)) == len(together)
    assert together.items() <= pinned.items()
    assert BUILDS_DIFFER not in together


def test_the_lists_hold_what_the_project_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    run = [
        *project["dependencies"],
        *(text for name in ("cli", "plot", "report", "studies") for text in extras[name]),
    ]
    for name, texts in {"run": run, "dev": extras["dev"], "docs": extras["docs"]}.items():
        versions = locked("run") | locked(name)
        for requirement in map(Requirement, texts):
            key = canonicalize_name(requirement.name)
            if key not in ("liegg", BUILDS_DIFFER):
                assert requirement.specifier.contains(versions[key]), requirement
