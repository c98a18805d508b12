"""Write run.txt, dev.txt and docs.txt: what the extras need, in the versions of constraints.txt, with checksums.

pip then refuses a file with another content.

python requirements/lock.py    (in an environment with everything installed; asks the package index)

torch itself is not listed: which build of it is right depends on the machine.
"""

import re
import urllib.request
from importlib.metadata import distribution
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pip._internal.models.index import PyPI

HERE = Path(__file__).parent
BUILD = ("hatchling", "editables")
"""What builds the package itself."""

SETS = {"run": ("all",), "dev": ("dev",), "docs": ("docs",)}
"""Extras of each file; a file leaves out what those before it list."""


def pinned() -> dict[str, str]:
    """Versions by canonical name."""
    lines = (HERE.parent / "constraints.txt").read_text(encoding="utf-8").split()
    return {
        canonicalize_name(name): version for name, version in (line.split("==") for line in lines)
    }


def needed(name: str, extras: tuple[str, ...], seen: set[str]) -> None:
    """Add a package and everything that it needs here."""
    for text in distribution(name).requires or ():
        requirement = Requirement(text)
        environments = [default_environment() | {"extra": extra} for extra in (*extras, "")]
        marker = requirement.marker
        if marker is not None and not any(map(marker.evaluate, environments)):
            continue
        key = canonicalize_name(requirement.name)
        if (key, *requirement.extras) not in seen:
            seen.add((key, *sorted(requirement.extras)))
            needed(requirement.name, tuple(requirement.extras), seen)


def digests(name: str, version: str) -> list[str]:
    """SHA-256 of every file of a version, from the index."""
    page = urllib.request.urlopen(f"{PyPI.simple_url}/{name}/").read().decode()
    found = set()
    for digest, file in re.findall(r'#sha256=([0-9a-f]{64})"[^>]*>([^<]+)</a>', page):
        stem = re.sub(r"\.(whl|tar\.gz|zip)$", "", file)
        parts = stem.split("-")
        own = parts[1] if file.endswith(".whl") else stem.rsplit("-", 1)[-1]
        if own == version:
            found.add(digest)
    if not found:
        raise SystemExit(f"{name}=={version}: the index has no such file.")
    return sorted(found)


def main() -> None:
    """Write the files."""
    versions, listed = pinned(), {"torch", "liegg"}
    for title, extras in SETS.items():
        seen: set = set()
        needed("liegg", extras, seen)
        if title == "run":
            for tool in BUILD:
                seen.add((tool,))
                needed(tool, (), seen)
        names = sorted({key[0] for key in seen} - listed)
        listed |= set(names)
        lines = []
        for name in names:
            hashes = " \\\n".join(
                f"    --hash=sha256:{one}" for one in digests(name, versions[name])
            )
            lines.append(f"{name}=={versions[name]} \\\n{hashes}\n")
        (HERE / f"{title}.txt").write_text("".join(lines), encoding="utf-8")
        print(title, len(names))


if __name__ == "__main__":
    main()
