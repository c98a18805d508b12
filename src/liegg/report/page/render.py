"""Fill in the templates of pages."""

import json
from pathlib import Path
from typing import Any

from liegg._utils.atomic_write import write_text
from liegg._utils.errors import ArgumentError, MissingExtraError
from liegg._utils.text import without_controls
from liegg._utils.version import __version__

SCRIPT_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
"""What could end a script element or begin another; `json` escapes U+2028 and U+2029 itself."""


PAGE_MARK = (
    b"""content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"""
)
"""In the head of every page: the page may not connect to anything."""

HEAD = 1000
"""Bytes of a page that hold the mark."""

PAGE_STYLES, PAGE_SCRIPTS = ("report.css", "answers.css"), ("answers.js", "report.js")
"""Files of a page, in their order."""


def rendered(
    template: str,
    values: dict[str, Any],
    data: dict[str, Any] | None = None,
    *,
    more: tuple[str, ...] = (),
) -> str:
    """Fill in a template. It escapes every text; the data of the script is escaped here.

    Args:
        template: name of its file.
        values: its variables.
        data: what the script of the page reads.
        more: further style sheets (.css) and scripts (.js) of this page.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "the report needs jinja2. Type: pip install 'liegg[report]'"
        ) from error
    loader = PackageLoader("liegg.report")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = (
        Markup("".join(loader.get_source(environment, name)[0] for name in names))
        for names in (
            (*PAGE_STYLES, *(name for name in more if name.endswith(".css"))),
            (*PAGE_SCRIPTS, *(name for name in more if name.endswith(".js"))),
        )
    )
    encoded = Markup(embedded({} if data is None else data))
    page = environment.get_template(template).render(
        values | {"style": style, "script": script, "data": encoded, "version": __version__}
    )
    return without_controls(page)


def embedded(value: Any) -> str:
    r"""JSON that can be put inside a script element, whatever texts it holds.

    >>> embedded({"a": "</script>"})
    '{"a":"\\u003c/script\\u003e"}'
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":")).translate(SCRIPT_ESCAPES)


def write_html(text: str, path: str | Path) -> Path:
    """Write a page; only an earlier page of liegg, or an empty file, is overwritten.

    Raises:
        ArgumentError: the path is taken by something else, or cannot be written.
    """
    path = Path(path)
    if path.is_symlink() and not path.exists():
        raise ArgumentError(f"{path} is a link to nowhere; expected a file to write.")
    if path.is_file() and not is_replaceable(path):
        raise ArgumentError(
            f"{path} exists and is not a page of liegg: it is not overwritten. Choose another name, "
            "or move that file away."
        )
    return write_text(text, path)


def is_replaceable(path: Path) -> bool:
    """Whether a file is empty or a page of liegg."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise ArgumentError(
            f"{path} cannot be read: {error.strerror or error}. Choose another name."
        ) from error
    return not head or PAGE_MARK in head
