"""Help as plain text: a section for each panel of options, and no option cut, however narrow the terminal is.

The panels of rich, typer's default, cut the names of options that have little room, and click breaks lines at hyphens, which
are part of the names of options.
"""

import re
import textwrap
from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup

LARGEST_WIDTH = 100
"""Columns of the help on a wide terminal."""

WIDEST_NAME = 27
"""Columns for the name of an option; the text of an option with a longer name begins on the next line."""

UNBROKEN = re.compile(r"\[[^\]]*\]")
"""What no line break divides: `[default: 30.0]`."""


RENAMED = {"--task": "--target: --target classes or --target values"}
"""Options of earlier versions, and what to write instead."""


class PlainCommand(TyperCommand):
    """A command with plain help that names the replacements of earlier options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command."""
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        for word in args:
            new = RENAMED.get(word.partition("=")[0], "")
            if new.partition(":")[0] in known:
                ctx.fail(f"No such option: {word.partition('=')[0]}. It is now {new}.")
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, text, options panel by panel, and examples."""
        _write_help(self, ctx, formatter, ())


class PlainGroup(TyperGroup):
    """A group of commands with plain help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The same, with the first sentence of every command."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _first_sentence(one.help)) for name, one in commands if one is not None]
        _write_help(self, ctx, formatter, rows)


def _write_help(
    command: TyperCommand | TyperGroup, ctx: Any, formatter: Any, commands: Iterable[Any]
) -> None:
    """Write the complete help of a command.

    Args:
        command: the command.
        ctx: its context.
        formatter: what typer writes to; it knows the width of the terminal.
        commands: name and text of every command below it.
    """
    width = formatter.width
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        if (row := parameter.get_help_record(ctx)) is not None:
            other = "Arguments" if parameter.param_type_name == "argument" else "Options"
            panel = getattr(parameter, "rich_help_panel", None) or other
            sections.setdefault(panel, []).append(row)
    if rows := list(commands):
        sections["Commands"] = rows
    command.format_usage(ctx, formatter)
    lines = [*paragraphs(command.help or "", width)]
    for title, rows in sections.items():
        lines += ["", f"{title}:", *definitions(rows, width)]
    lines += ["", *paragraphs(command.epilog, width)] if command.epilog else []
    formatter.write("\n" + "\n".join(lines) + "\n")


def paragraphs(text: str, width: int) -> list[str]:
    """Paragraphs of a docstring, wrapped and indented by two columns; an empty line between two."""
    parts = [" ".join(part.split()) for part in text.strip().split("\n\n")]
    lines = [line for part in parts for line in [*_wrapped(part, width, indent=2), ""]]
    return lines[:-1]


def definitions(rows: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Names with their texts beside them, or below names that are long.

    Args:
        rows: name and text.
        width: columns of a line.

    Examples:
        >>> definitions([("--seed <int>", "Random seed.")], 60)
        ['  --seed <int>  Random seed.']
    """
    rows = list(rows)
    indent = 4 + min(max(len(name) for name, _ in rows), WIDEST_NAME)
    lines = []
    for name, text in rows:
        first, *rest = _wrapped(text, width, indent=indent) or [""]
        if len(name) + 4 <= indent:
            lines.append(f"  {name}".ljust(indent) + first.lstrip())
        else:
            # A list of choices is divided between two of them.
            choices = _wrapped(name.replace("|", "| "), width, indent=2)
            lines += [*(line.replace("| ", "|") for line in choices), first]
        lines += rest
    return lines


def _wrapped(text: str, width: int, *, indent: int) -> list[str]:
    """Lines of a text; options and defaults are not divided."""
    text = " ".join(text.split()).replace("\\[", "[")  # older versions of typer escape for rich
    kept = UNBROKEN.sub(lambda match: match[0].replace(" ", "\xa0"), text)
    wrapper = textwrap.TextWrapper(
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace("\xa0", " ") for line in wrapper.wrap(kept)]


def _first_sentence(text: str | None) -> str:
    return (text or "").strip().split("\n\n")[0]
