"""Judge the traps of a series, in several processes, and count the verdicts."""

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

from liegg.studies.error_rates.tally import Row, upper_limit
from liegg.studies.error_rates.traps_catalog import THEMES, Key, make
from liegg.studies.error_rates.traps_judgement import LEVELS, VERDICTS, judge_trap
from liegg.studies.error_rates.traps_names import NameTrap, judge_name

THEME = {family: theme for theme, families in THEMES.items() for family in families}


def judged(key: Key) -> Row:
    """A case: its key, its verdict and its numbers."""
    row = {"family": key.family, "theme": THEME[key.family], "index": key.index, "seed": key.seed}
    trap = make(key)
    try:
        return row | (judge_name(trap) if isinstance(trap, NameTrap) else judge_trap(trap))
    except Exception as error:
        error.add_note(f"The case was {key}.")
        raise


def judge_all(
    keys: Sequence[Key], *, processes: int = 1, finished: Callable[[Row], object] = lambda _: None
) -> list[Row]:
    """Judge cases, in the order given.

    Args:
        keys: the cases.
        processes: number of processes, each with one thread; 1 judges in this one.
        finished: called with each row.
    """

    def counted(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            finished(row)
            yield row

    if processes == 1:
        return list(counted(map(judged, keys)))
    # Started afresh: a copy of a process whose threads hold a lock may wait for it forever.
    with multiprocessing.get_context("spawn").Pool(processes, _one_thread) as pool:
        return list(counted(pool.imap(judged, keys, chunksize=4)))


def _one_thread() -> None:
    torch.set_num_threads(1)


def tally(rows: Sequence[Row]) -> dict[str, Any]:
    """Verdicts of some cases, their false claims by kind and level, and the upper limit of the rate.

    Returns:
        `cases`; a number for each of `VERDICTS`; `findable`, cases with symmetries that the data
        show, and `found`, the right ones of these; `undergraded`, right ones whose exact symmetries
        have a lower grade; `claims` and `levels` of the confident wrong ones, each case once at its
        strongest false level; `upper`, the upper end of the interval of their rate.
    """
    verdicts = Counter(row["verdict"] for row in rows)
    wrong = [row for row in rows if row["verdict"] == VERDICTS[-1]]
    strongest = Counter(
        min((one["level"] for one in row["false"]), key=LEVELS.index) for row in wrong
    )
    findable = [row for row in rows if row["decidable"] and row["findable"]]
    claims = Counter(claim for row in wrong for claim in {one["claim"] for one in row["false"]})
    return {
        "cases": len(rows),
        **{verdict: verdicts[verdict] for verdict in VERDICTS},
        "findable": len(findable),
        "found": sum(row["verdict"] == VERDICTS[0] for row in findable),
        "undergraded": sum(row.get("undergraded", False) for row in rows),
        "claims": dict(sorted(claims.items())),
        "levels": {level: strongest[level] for level in LEVELS},
        "upper": upper_limit(len(wrong), len(rows)),
    }


def by_family(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """The same for every family, in the order of the cases."""
    return {
        family: tally([row for row in rows if row["family"] == family])
        for family in dict.fromkeys(row["family"] for row in rows)
    }
