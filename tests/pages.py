"""Run the Python blocks of documentation pages and compare what they print with what the pages show.

The blocks of a page run in order, in one process per page. A Python block may be followed by a text
block with its output. `python tests/pages.py --write` runs the pages and rewrites these text blocks
and the images that the pages save; `python tests/pages.py docs/tutorial.md` only checks them.

The blocks of a page after `<!-- part: name -->`, up to the next such line, may need packages of their own. They are not run
with the page, but by `python tests/pages.py PAGE --part name` in an environment that has these.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

SHOWN = (
    "docs/tutorial.md",
    "docs/howto-images.md",
    "docs/howto-points.md",
    "docs/howto-structured.md",
    "docs/howto-physics.md",
    "docs/howto-groups.md",
    "docs/howto-layers.md",
    "docs/howto-action.md",
    "docs/howto-ci.md",
    "docs/howto-outputs.md",
    "docs/howto-tokens.md",
    "docs/howto-large.md",
    "docs/finite-groups.md",
    "docs/howto-foreign.md",
    "docs/howto-data.md",
    "docs/questions.md",
    "docs/faq.md",
)
"""Pages on which every block that prints is followed by its output."""

RELATIVE_TOLERANCE = 0.05
"""Relative difference of printed numbers that is accepted: rounding differs between machines, and
training amplifies it."""

ROUNDING = 1e-10
"""Numbers below this are rounding errors."""

PAIR = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\s*^```text\n(?P<shown>.*?)^```$)?",
    flags=re.DOTALL | re.MULTILINE,
)
PART = re.compile(r"^<!-- part: (\w+) -->$", flags=re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
IMAGE = re.compile(r"\]\(images/([\w-]+\.png)\)")

DRIVER = """
import contextlib, io, json, sys
names = {"__name__": "__main__"}
printed = []
for line, code in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\\n" * line + code, sys.argv[1], "exec"), names)
    printed.append(out.getvalue())
print(json.dumps(printed))
"""
"""Program that runs in the process of a page; its line numbers are those of the page."""


@dataclass(frozen=True)
class Block:
    """A Python block of a page.

    Attributes:
        line: number of lines of the page before its code.
        code: the code.
        shown: the output shown on the page; None if there is none.
    """

    line: int
    code: str
    shown: str | None


def matches(text: str, part: str = "") -> list[re.Match[str]]:
    """The Python blocks of a part of a page, each with the text block that follows it; without a name, those before any part."""
    marks = [(match.start(), match[1]) for match in PART.finditer(text)]
    of_block = lambda match: next((n for at, n in reversed(marks) if at < match.start()), "")  # noqa: E731
    return [match for match in PAIR.finditer(text) if of_block(match) == part]


def blocks(text: str, part: str = "") -> list[Block]:
    """Python blocks of a part of a page, each with the text block that follows it."""
    return [
        Block(text[: match.start("code")].count("\n"), match["code"], match["shown"])
        for match in matches(text, part)
    ]


def run(page: str, folder: Path, part: str = "") -> list[str]:
    """Run the blocks of a page in their own process, warnings as errors; return their outputs.

    Args:
        page: path relative to the repository.
        folder: working folder of the code.
        part: which part of the page; other packages may warn there.

    Raises:
        AssertionError: a block failed; the message is its traceback, with the lines of the page.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    code = json.dumps([(block.line, block.code) for block in blocks(text, part)])
    # One thread: small models are not faster with more, and much slower on shared cores.
    process = subprocess.run(
        [sys.executable, "-W", "ignore" if part else "error", "-c", DRIVER, page],
        input=code,
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        # COLUMNS would change the width of printed tables.
        env={key: value for key, value in os.environ.items() if key != "COLUMNS"}
        | {"OMP_NUM_THREADS": "1"},
    )
    if process.returncode:
        raise AssertionError(f"{page} fails:\n{process.stderr}")
    return json.loads(process.stdout)


def difference(shown: str, printed: str) -> str:
    """First difference of two texts in words or numbers; empty if there is none. Spaces are ignored.

    >>> difference("3 symmetries, up to 0.0140", "3 symmetries,  up to 0.0143")
    ''
    >>> difference("3 symmetries, up to 0.0140", "4 symmetries, up to 0.0140")
    "the page shows '3', the code prints '4'"
    >>> difference("3 symmetries, up to 0.014, 1.2 %", "3 symmetries, up to 0.015, 1.3 %")
    ''
    """
    words = [" ".join(NUMBER.sub("#", text).split()) for text in (shown, printed)]
    if words[0] != words[1]:
        at = next(
            (i for i, (a, b) in enumerate(zip(*words, strict=False)) if a != b),
            min(map(len, words)),
        )
        place = slice(max(0, at - 40), at + 60)
        return f"the page shows {words[0][place]!r}, the code prints {words[1][place]!r}"
    for one, other in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        low, high = sorted((abs(float(one)), abs(float(other))))
        rounding = max(last_place(one), last_place(other))
        close = float(one) * float(other) >= 0 and high - low < RELATIVE_TOLERANCE * high + rounding
        if not (close or high < ROUNDING or low == high == 0):
            return f"the page shows {one!r}, the code prints {other!r}"
    return ""


def last_place(number: str) -> float:
    """One unit of the last digit that a rounded number shows; 0 for whole numbers, which may be counts.

    Two numbers that are close and are rounded to this place may differ by one unit.

    >>> last_place("0.0140"), last_place("1.5e-3"), last_place("12")
    (0.0001, 0.0001, 0.0)
    """
    digits, _, exponent = number.lower().partition("e")
    decimals = len(digits.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals) if decimals else 0.0


def check(page: str, printed: list[str], part: str = "") -> None:
    """Fail unless every text block of a page, or of a part of it, shows the output of the block before it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block, output in zip(blocks(text, part), printed, strict=True):
        if block.shown is not None and (reason := difference(block.shown, output)):
            raise AssertionError(
                f"{page}, after line {block.line}: {reason}. "
                "To update the page: python tests/pages.py --write"
            )


def rewritten(text: str, printed: list[str], part: str = "") -> str:
    """The page with every text block of a part replaced by the output; added where a block prints."""
    pieces, last = [], 0
    for match, said in zip(matches(text, part), printed, strict=True):
        output = "\n".join(line.rstrip() for line in said.splitlines())
        code = f"```python\n{match['code']}```"
        pieces += [text[last : match.start()], code]
        pieces += [f"\n\n```text\n{output}\n```"] if output else []
        last = match.end()
    return "".join([*pieces, text[last:]])


def images(page: str) -> list[str]:
    """Names of the images on a page that its own code makes."""
    stem = Path(page).stem
    text = (ROOT / page).read_text(encoding="utf-8")
    return [name for name in IMAGE.findall(text) if name.startswith(stem)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Run the pages that show the output of their code."
    )
    parser.add_argument(
        "pages", nargs="*", default=SHOWN, help="such as docs/tutorial.md; by default all"
    )
    parser.add_argument(
        "--write", action="store_true", help="rewrite the text blocks and the images"
    )
    parser.add_argument("--part", default="", help="the part of the page to run, such as peers")
    arguments = parser.parse_args()
    for page in arguments.pages:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            printed = run(page, Path(folder), arguments.part)
            if arguments.write:
                path = ROOT / page
                path.write_text(
                    rewritten(path.read_text(encoding="utf-8"), printed, arguments.part),
                    encoding="utf-8",
                )
                for name in images(page):
                    target = ROOT / "docs" / "images" / name
                    target.write_bytes((Path(folder) / name).read_bytes())
            else:
                check(page, printed, arguments.part)
            print(f"{page}: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
