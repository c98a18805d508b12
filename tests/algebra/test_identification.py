"""The record of an identification: texts, dictionary, and what it derives from the named algebra."""

import dataclasses
import json
import math

import torch

from cases import normal, regular
from liegg._utils.diagnoses import Diagnosis
from liegg.algebra import canonical, closure, grassmann_distance, orthonormal, se, sl, so, sp, u
from liegg.algebra.identification import Alternative, Identification


def said(text):
    return Diagnosis.TEXT(text=text)


def identified(name, generators, **more):
    return Identification(name, orthonormal(generators), canonical(generators), **more)


def conjugated(generators, condition=3.0):
    p = regular(generators.shape[1], condition=condition)
    return p @ generators @ torch.linalg.inv(p)


def lorentz():
    return identified(
        "so(1,3)",
        so(1, 3),
        aliases=("sl(2,C)", "so(3,C)"),
        meaning="boosts and rotations",
        confident=True,
        margin=3.0,
        angle=1e-15,
        uncertainty=math.radians(0.5),
        coordinates=("t", "x", "y", "z"),
        reasons=(said("closed"), said("preserves a metric")),
        notes=(said("one was dependent"),),
        alternatives=tuple(
            Alternative(f"rival{i}", 0.1, 0.2, said(f"reason {i}")) for i in range(5)
        ),
    )


def rigid():
    return identified(
        "se(2)",
        se(2),
        meaning="rigid motions",
        homogeneous=True,
        coordinates=("x", "y"),
        margin=math.inf,
    )


def unknown():
    span = normal(3, 3, 3)
    return identified("unknown", span, closure=closure(span), reasons=(said("not closed"),))


def nothing():
    return identified(
        "0", torch.zeros(0, 3, 3, dtype=torch.float64), confident=True, margin=math.inf, angle=0.0
    )


EVERY = {
    "so(1,3)": lorentz,
    "se(2)": rigid,
    "sp(4)": lambda: identified("sp(4,R)", conjugated(sp(4)), margin=math.inf),
    "u(2)": lambda: identified("u(2)", u(2)),
    "unknown": unknown,
    "0": nothing,
}


# Texts


def test_titles():
    assert lorentz().title() == "so(1,3), boosts and rotations"
    assert (
        dataclasses.replace(lorentz(), confident=False, meaning="").title() == "so(1,3) (not sure)"
    )
    assert rigid().title() == "se(2), rigid motions (not sure)"
    assert unknown().title() == "unknown algebra of dimension 3"
    assert nothing().title() == "0: no generators"


def test_the_whole_account():
    assert str(lorentz()).splitlines() == [
        "so(1,3), boosts and rotations",
        "  also known as sl(2,C), so(3,C)",
        "  closed",
        "  preserves a metric",
        "  another name as simple would need an uncertainty of 1.5°, 3 times as much",
        "  note: one was dependent",
        "  not rival0: reason 0",
        "  not rival1: reason 1",
        "  not rival2: reason 2",  # three are enough
        "  generators, in a readable basis:",
        "     1  hyperbolic rotation in t–x",
        "     2  hyperbolic rotation in t–y",
        "     3  hyperbolic rotation in t–z",
        "     4  rotation in x–y",
        "     5  rotation in x–z",
        "     6  rotation in y–z",
        "  in the frame where the preserved form is standard:",
        "     1  rotation in x–y",
        "     2  rotation in x–z",
        "     3  rotation in y–z",
        "     4  boost along x (time t)",
        "     5  boost along y (time t)",
        "     6  boost along z (time t)",
    ]


def test_lines_that_would_say_nothing_are_left_out():
    assert str(rigid()).splitlines() == [
        "se(2), rigid motions (not sure)",
        "  generators, in a readable basis:",
        "     1  rotation in x–y",
        "     2  translation along x",
        "     3  translation along y",  # the frame is the coordinates: not said again
    ]
    assert nothing().lines() == ["0: no generators"]


def test_of_exact_matrices_no_multiple_of_rounding_is_told():
    exact = dataclasses.replace(lorentz(), uncertainty=1e-9, margin=math.radians(30) / 1e-9)
    assert exact.lines()[4] == "  another name as simple would need an uncertainty of 30°"


def test_words_that_only_gain_primes_are_not_said_again():
    stretch = torch.diag(torch.tensor([1.0, 1.0, 1.0 + 1e-4], dtype=torch.float64))
    record = Identification(
        "so(3)", orthonormal(so(3)), canonical(stretch @ so(3) @ torch.linalg.inv(stretch))
    )
    assert record.readable.framed_words == (
        "rotation in x₁′–x₂′",
        "rotation in x₁′–x₃′",
        "rotation in x₂′–x₃′",
    )
    assert record.lines()[-1] == "     3  rotation in x₂–x₃"


def test_the_account_of_the_unknown():
    lines = unknown().lines()
    assert lines[:3] == [
        "unknown algebra of dimension 3",
        "  not closed",
        "  generators, in a readable basis:",
    ]
    assert len(lines) == 6


def test_repr_is_short():
    assert (
        repr(lorentz()) == "Identification(name='so(1,3)', dimension=6, margin=3, confident=True)"
    )
    assert repr(nothing()) == "Identification(name='0', dimension=0, margin=inf, confident=True)"


def test_latex_has_generators_and_brackets():
    assert rigid().latex() == "\n".join(
        [
            r"\begin{align*}",
            r"X_1 &= \begin{pmatrix} 0 & -1 & 0 \\ 1 & 0 & 0 \\ 0 & 0 & 0 \end{pmatrix} \\",
            r"X_2 &= \begin{pmatrix} 0 & 0 & 1 \\ 0 & 0 & 0 \\ 0 & 0 & 0 \end{pmatrix} \\",
            r"X_3 &= \begin{pmatrix} 0 & 0 & 0 \\ 0 & 0 & 1 \\ 0 & 0 & 0 \end{pmatrix}",
            r"\end{align*}",
            r"\begin{align*}",
            r"[X_1, X_2] &= X_3 \\",
            r"[X_1, X_3] &= -X_2",
            r"\end{align*}",
        ]
    )
    assert nothing().latex() == "\n"


# Dictionary


def finite(value):
    """Numbers that JSON has no word for, replaced by text."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [finite(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def test_the_dictionary_is_json():
    for make in EVERY.values():
        found = make().to_dict()
        assert json.loads(json.dumps(finite(found), allow_nan=False)) == finite(found)
        assert (
            found["dimension"]
            == len(found["generators"])
            == len(found["readable"]["words"])
            == len(found["readable"]["generators"])
        )


def test_the_dictionary_says_what_the_record_says():
    record = lorentz()
    found, readable = record.to_dict(), record.readable
    assert record.metric is not None
    assert readable.framed is not None
    assert readable.frame is not None
    for key in ("name", "meaning", "confident", "margin", "angle", "uncertainty", "estimated"):
        assert found[key] == getattr(record, key)
    for key in ("aliases", "reasons", "notes"):
        assert found[key] == list(getattr(record, key))
    assert found["generators"] == record.generators.tolist()
    assert found["metric"] == record.metric.tolist()
    assert found["framed"]["generators"] == readable.framed.tolist()
    assert found["framed"]["frame"] == readable.frame.tolist()
    assert found["framed"]["words"] == list(readable.framed_words)
    assert found["alternatives"][1] == {
        "name": "rival1",
        "angle": 0.1,
        "needs": 0.2,
        "reason": "reason 1",
    }
    assert len(found["alternatives"]) == 5


def test_what_is_missing_is_none():
    found = unknown().to_dict()
    assert (found["name"], found["metric"], found["framed"]) == ("unknown", None, None)
    assert math.isnan(found["angle"])


# What is derived


def test_metric():
    torch.testing.assert_close(
        lorentz().metric, torch.diag(torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=torch.float64))
    )
    torch.testing.assert_close(EVERY["u(2)"]().metric, torch.eye(4, dtype=torch.float64))
    assert EVERY["sp(4)"]().metric is None
    assert rigid().metric is None
    assert unknown().metric is None


def test_invariants_and_abstract_names():
    assert lorentz().abstract == ("so(1,3)", "sl(2,C)", "so(3,C)", "sp(2,C)")
    assert EVERY["u(2)"]().abstract == ("so(3) ⊕ R", "u(2)", "su(2) ⊕ R", "sp(1) ⊕ R")
    assert EVERY["sp(4)"]().abstract == ("so(2,3)", "sp(4,R)")
    assert rigid().abstract[0] == "se(2)"
    assert nothing().abstract == ("0",)
    found, other = lorentz().invariants, rigid().invariants
    assert found is not None
    assert other is not None
    assert found.killing_signature == (3, 3, 0)
    assert (other.dimension, other.solvable) == (3, True)


def test_a_span_that_is_not_closed_has_no_invariants():
    assert (unknown().invariants, unknown().abstract) == (None, ())
    never_closed = dataclasses.replace(unknown(), closure=None)
    assert (never_closed.invariants, never_closed.abstract) == (None, ())
    closed = identified("unknown", sl(2), closure=closure(sl(2)))
    assert closed.invariants is not None
    assert closed.invariants.dimension == 3
    assert closed.abstract[0] == "sl(2,R)"


def test_readable_generators_span_what_was_given():
    for make in EVERY.values():
        record = make()
        assert grassmann_distance(record.readable.generators, record.span) < 1e-9
        assert record.known == (record.name != "unknown")
        frame, framed = record.readable.frame, record.readable.framed
        if frame is not None and framed is not None:
            back = frame @ framed @ torch.linalg.inv(frame)
            assert grassmann_distance(back, record.generators) < 1e-9


def test_frames():
    assert (lorentz().readable.rotations, lorentz().readable.boosts) == (3, 3)
    assert (EVERY["u(2)"]().readable.rotations, EVERY["u(2)"]().readable.boosts) == (4, 0)
    torch.testing.assert_close(EVERY["u(2)"]().readable.frame, torch.eye(4, dtype=torch.float64))
    framed = EVERY["sp(4)"]().readable.framed
    assert framed is not None
    assert grassmann_distance(framed, sp(4)) < 1e-9
    assert unknown().readable.frame is None
    assert (
        identified("sl(3,R)", sl(3)).readable.frame is None
    )  # no form on a subspace that it moves


def test_the_frame_of_affine_maps_is_that_of_their_linear_parts():
    stretch = torch.diag(torch.tensor([2.0, 1.0, 1.0], dtype=torch.float64))
    record = identified(
        "se(2)",
        stretch @ se(2) @ torch.linalg.inv(stretch),
        homogeneous=True,
        coordinates=("x", "y"),
    )
    assert record.readable.words == (
        "elliptic rotation in x–y (axes 2 : 1)",
        "translation along x",
        "translation along y",
    )
    assert record.readable.framed_words == (
        "rotation in x′–y′",
        "translation along x′",
        "translation along y′",
    )
    frame = record.readable.frame
    assert frame is not None
    size = frame[1, 1]
    torch.testing.assert_close(
        frame, torch.diag(torch.stack([2 * size, size, torch.ones_like(size)]))
    )


def test_a_noisy_span_is_read_within_its_uncertainty_and_the_frame_from_the_named_algebra():
    off = so(3) + 1e-3 * normal(3, 3, 3)
    record = Identification("so(3)", orthonormal(off), canonical(so(3)), uncertainty=4e-3)
    assert record.readable.words == ("rotation in x₁–x₂", "rotation in x₁–x₃", "rotation in x₂–x₃")
    assert record.readable.framed_words == record.readable.words
    torch.testing.assert_close(record.metric, torch.eye(3, dtype=torch.float64))
