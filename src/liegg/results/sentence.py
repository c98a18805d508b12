"""The finding in one sentence, for a reader who knows no Lie theory."""

from collections.abc import Sequence
from typing import Any

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.text import percent_digits, root_percent
from liegg.algebra.words.wording import listed
from liegg.decision.grades import GRADES
from liegg.results.symmetries import Symmetries

CHANGE_WORDS = {"strong": "hardly changes", "approximate": "changes little"}
"""What an output does along directions that are not exact."""

FEW_MOTIONS = 2
"""Symmetries up to which each is described; more have the meaning of their algebra."""

MOST_LISTED = 4
"""Symmetries up to which each is described where the meaning of their algebra says little."""

WITHOUT_WORDS = "linear map"
"""How the words of a motion begin that has no name of its own."""

SHOWN_VIOLATION = 0.01
"""Share of such data that may violate what is exact above which the sentence says so: with fewer than 300 samples."""

WHEN_MOVED = (Diagnosis.VERIFIED_SYMMETRIES, Diagnosis.VERIFIED_EQUIVARIANCES)
"""Verdicts that finite transformations changed."""


def sentence_of(sym: Symmetries) -> Remark:
    """What was found, in plain words; reads the record and computes nothing.

    Args:
        sym: the result of `discover`.
    """
    decision, model = sym.decision, sym.subject
    if decision.undecided and not decision.nullity:
        total = len(decision.grades) + decision.unsolved
        if sym.distribution is not None:
            doubted = decision.sentence.diagnosis is Diagnosis.DATA_DOUBTED
            member = Diagnosis.DATA_DOUBTED_FOR if doubted else Diagnosis.DATA_UNDECIDED_FOR
            return member(samples=sym.samples, undecided=decision.undecided, total=total)
        return Diagnosis.UNDECIDED_FOR(model=model, undecided=decision.undecided, total=total)
    if not decision.grades:
        return Diagnosis.NOTHING_MOVES_FOR(model=model)
    return _found(sym) if decision.nullity else _nothing_found(sym)


def _found(sym: Symmetries) -> Remark:
    """Say that there are symmetries, and how well they hold."""
    decision, verdict, found = sym.decision, sym.decision.sentence, sym.identification
    invariance = sym.output_action is None
    worst = max(decision.grades[: decision.nullity], key=GRADES.index)
    values: dict[str, Any] = {
        "subject": _subject(sym),
        "motions": motions_in_words(
            sym.words, name=found.name, meaning=found.meaning, nullity=decision.nullity
        ),
        "algebra": f"{found.name}, " if found.known else "",
        "nullity": decision.nullity,
        "lower_bound": decision.is_lower_bound,
        "certainty": ", ".join(certainty_of(sym)),
    }
    if verdict.diagnosis is Diagnosis.DATA_SYMMETRIES:
        del values["subject"], values["lower_bound"]
        return Diagnosis.DATA_UNCHANGED(
            **values, samples=sym.samples, percent=verdict.values["percent"]
        )
    if worst == "exact":
        return (Diagnosis.UNCHANGED if invariance else Diagnosis.FOLLOWS)(**values)
    values |= {"change": CHANGE_WORDS[worst]} if invariance else {}
    if verdict.diagnosis in WHEN_MOVED:
        member = Diagnosis.NEARLY_UNCHANGED_WHEN_MOVED
        member = member if invariance else Diagnosis.NEARLY_FOLLOWS_WHEN_MOVED
        shown = {name: verdict.values[name] for name in ("percent", "motion")}
        return member(**values, **shown)
    largest = float(sym.defects[: decision.nullity].max())
    member = Diagnosis.NEARLY_UNCHANGED if invariance else Diagnosis.NEARLY_FOLLOWS
    return member(**values, percent=root_percent(largest))


def _nothing_found(sym: Symmetries) -> Remark:
    """State that no symmetry was found, and what comes nearest."""
    decision, model, verdict = sym.decision, sym.subject, sym.decision.sentence
    invariance = sym.output_action is None
    if verdict.diagnosis is Diagnosis.NONE_VERIFIED:
        return Diagnosis.CHANGED_WHEN_MOVED(model=model, **verdict.values)
    if weak := decision.levels[3]:
        member = Diagnosis.WEAKLY_CHANGED if invariance else Diagnosis.WEAKLY_FOLLOWED
        names = [level.name for level in sym.tower if level.dimension == weak]
        algebra = "".join(f" ({name})" for name in names if name != "unknown")
        percent = root_percent(float(sym.defects[weak - 1]))
        return member(subject=_subject(sym), weak=weak, algebra=algebra, percent=percent)
    if verdict.diagnosis is Diagnosis.NO_CLEAR_COUNT:
        return Diagnosis.UNCLEAR_COUNT(model=model, **verdict.values)
    words = [one.words for one in sym.candidates[:1] if one.words]
    nearest = f"the nearest, {words[0]}," if words else "the nearest"
    member = Diagnosis.ALWAYS_CHANGED if invariance else Diagnosis.NEVER_FOLLOWS
    member = member if sym.distribution is None else Diagnosis.DATA_ALWAYS_CHANGED
    percent = root_percent(float(sym.defects[0]))
    return member(subject=_subject(sym), nearest=nearest, percent=percent)


def _subject(sym: Symmetries) -> str:
    """What does not change: the output, or the part of it that was asked about."""
    of_data = sym.distribution is not None or sym.settings.get("question") is not None
    is_output = sym.subject == sym.model and not of_data
    return f"the output of {sym.model}" if is_output else sym.subject


def certainty_of(sym: Symmetries) -> tuple[Remark, ...]:
    """How certain the symmetries are: the doubts about them, or "sure"."""
    decision, found = sym.decision, sym.identification
    doubts = [] if found.confident or not found.known else [Diagnosis.NAME_NOT_SURE()]
    if decision.undecided:
        doubts.append(Diagnosis.MORE_UNDECIDED(count=decision.undecided))
    elif decision.certainty is None:
        doubts.append(Diagnosis.COUNT_WITHOUT_INTERVAL())
    else:
        low, high = decision.certainty.nullity
        low, high = min(low, decision.nullity), max(high, decision.nullity)
        doubts += [Diagnosis.COUNT_BETWEEN(low=low, high=high)] if low < high else []
    if any(decision.borderline[: decision.nullity]):
        doubts.append(Diagnosis.NEAR_A_THRESHOLD())
    doubts += [
        Diagnosis.MAY_BE_VIOLATED(percent=percent_digits(one.values["share"]))
        for one in decision.reasons
        if one.diagnosis is Diagnosis.NONE_VIOLATES and one.values["share"] > SHOWN_VIOLATION
    ]
    if decision.warnings:
        doubts.append(Diagnosis.SEE_WARNINGS(count=len(decision.warnings)))
    return tuple(doubts) or (Diagnosis.SURE(),)


def motions_in_words(words: Sequence[str], *, name: str, meaning: str, nullity: int) -> str:
    """The symmetries: each if there are few, else what their algebra means, else the first of them.

    Args:
        words: what each of them does, as far as that is known.
        name: of their algebra.
        meaning: of the name; empty if it has none.
        nullity: how many there are.

    Examples:
        >>> motions_in_words(["a", "b"], name="R²", meaning="maps that commute", nullity=2)
        'a and b'
        >>> motions_in_words(["a", "b", "c"], name="so(3)", meaning="rotations", nullity=3)
        'rotations'
        >>> other = "in a representation other than the usual one"
        >>> motions_in_words(["a", "b", "c"], name="sim(2)", meaning=other, nullity=3)
        'a, b and c'
    """
    told = [one for one in words if not one.startswith(WITHOUT_WORDS)]
    if 0 < len(words) == len(told) <= FEW_MOTIONS:
        return " and ".join(told)
    if meaning:
        if meaning.startswith(
            "in "
        ):  # a representation other than the usual one, which says little
            return _first_motions(told, nullity) if told else f"{name} {meaning}"
        article = "the " if meaning[0].isupper() else ""
        return article + meaning.replace("; ", " and ")
    if not told:
        return "a motion without a name" if nullity == 1 else "motions without a common name"
    more = nullity - 1
    return f"{told[0]} and {more} more {'motion' if more == 1 else 'motions'}"


def _first_motions(told: Sequence[str], nullity: int) -> str:
    """All of a few motions, or the first two and how many there are besides."""
    shown = told if len(told) == nullity <= MOST_LISTED else told[:2]
    more = nullity - len(shown)
    rest = [f"{more} more {'motion' if more == 1 else 'motions'}"] if more else []
    return listed([*shown, *rest])
