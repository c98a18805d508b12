"""The tables of docs/questions.md, from results/questions.json."""

from collections.abc import Sequence
from typing import Any

from liegg._utils.text import percentage
from result_files import DOCS, put_tables

PAGE = DOCS / "questions.md"


def tables(stored: dict[str, Any]) -> dict[str, str]:
    """The tables of docs/questions.md, by the name of their place."""
    found = {
        part: _table(stored[part], names)
        for part, names in (
            ("digits", ("plain", "augmented")),
            ("photographs", ("resnet20", "resnet56")),
            ("forces", ("built", "learned")),
        )
        if part in stored
    }
    if "gravity" in stored:
        found["gravity"] = _gravity(stored["gravity"])
    if "cost" in stored:
        rows = [
            f"| {n} | {row['derivatives']:.2f} | {row['with']:.2f} | {row['motions']} | {row['moved']} |"
            for n, row in stored["cost"].items()
        ]
        head = [
            "| samples | with defects of the motions | with the standard questions | motions tried | samples moved |",
            "|---|---|---|---|---|",
        ]
        named = [
            f"Asked by name, with {n} images: {row['named']['1']:.2f} for one motion, {row['named']['4']:.2f} for four."
            for n, row in stored["cost"].items()
            if "named" in row
        ]
        found["cost"] = "\n".join([*head, *rows, *([""] if named else []), *named])
    if "words" in stored.get("forces", {}).get("built", {}):
        found["fields of forces"] = _fields_of_forces(stored["forces"])
    return found


def _fields_of_forces(part: dict[str, Any]) -> str:
    """What was found in both networks, as vector fields of atoms and of forces."""
    names = ("built", "learned")
    head = [f"| | {' | '.join(names)} |", "|---|---|---|"]
    rows = {
        "found": [part[name]["name"] for name in names],
        "in words": ["; ".join(part[name]["words"]) or "–" for name in names],
        "vector fields": [_formulas(part[name]["vector_fields"]) for name in names],
        "on the forces": [_formulas(part[name]["output_fields"]) for name in names],
    }
    return "\n".join([*head, *(f"| {name} | {' | '.join(row)} |" for name, row in rows.items())])


def _formulas(texts: Sequence[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts) or "–"


def _gravity(part: dict[str, Any]) -> str:
    """What was found in the law and in the network, and how much named motions change."""
    names = ("law", "network")
    formulas = [
        [line.rstrip(" \\") for line in part[name]["latex"].splitlines()[1:-1]] for name in names
    ]
    cells = {
        "found": [part[name]["name"] for name in names],
        "in words": ["; ".join(part[name]["words"]) for name in names],
        "vector fields": [
            ", ".join(f"`{one}`" for one in part[name]["vector_fields"]) for name in names
        ],
        "LaTeX": [
            ", ".join(f"${one.replace('&', '').strip()}$" for one in lines) for lines in formulas
        ],
    }
    for motion, one in part["law"]["answers"].items():
        both = (part[name]["answers"][motion] for name in names)
        cells[f"{motion} {one['size']}"] = [_changed(each) for each in both]
    head = ["| | the law | the network |", "|---|---|---|"]
    return "\n".join([*head, *(f"| {name} | {a} | {b} |" for name, (a, b) in cells.items())])


def _table(part: dict[str, Any], names: tuple[str, str]) -> str:
    """One line per motion: what it changes in both models, and which changes clearly less."""
    head = [
        f"| motion | {names[0]} | {names[1]} | random motions | clearly less | δ² ratio |",
        "|---|---|---|---|---|---|",
    ]
    rows = []
    for motion, pair in part["comparison"].items():
        one, other = (part[name]["answers"][motion] for name in names)
        ratio = (
            "" if pair["ratio"][0] is None else "{:.2g} ({:.2g} to {:.2g})".format(*pair["ratio"])
        )
        rows.append(
            f"| {motion} {one['size']} | {_changed(one)} | {_changed(other)} | {_random(one)}, "
            f"{_random(other)} | {pair['smaller'] or 'neither'} | {ratio} |"
        )
    return "\n".join([*head, *rows])


def _changed(answer: dict[str, Any]) -> str:
    if answer["grade"] == "exact" and answer["holds"]:
        return "0 %"
    if answer["share"] is None:
        return f"{percentage(answer['amount'])} of the spread"
    value, low, high = (percentage(x).removesuffix(" %") for x in answer["share"])
    return f"{value} % ({low} to {high})"


def _random(answer: dict[str, Any]) -> str:
    share = answer["random_share"]
    return percentage(answer["random_amount"] if share is None else share)


def write_page(stored: dict[str, Any]) -> None:
    """Put the tables into the page."""
    put_tables(PAGE, tables(stored))
