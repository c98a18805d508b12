"""Why a name was given, and why others were not."""

import math

from liegg._utils.diagnoses import Diagnosis, Remark, plural
from liegg.algebra.closure import ROUNDING_RESIDUAL, Closure
from liegg.algebra.families.candidates import Candidate
from liegg.algebra.forms.forms import Forms, signature
from liegg.algebra.identification import Alternative
from liegg.algebra.structure.real_forms import abelian


def rivals(
    candidates: list[Candidate], choice: Candidate | None, noise: float, floor: float
) -> tuple[Alternative, ...]:
    """The candidates that were not chosen, nearest first, each with the reason.

    Args:
        candidates: all candidates.
        choice: the one that was named; None if none was.
        noise: uncertainty that was allowed.
        floor: uncertainty of exact matrices.
    """
    others = sorted(
        (rival for rival in candidates if rival is not choice), key=lambda rival: rival.fit.needs()
    )
    return tuple(
        Alternative(
            rival.name, rival.fit.angle, rival.fit.needs(), _why_not(rival, choice, noise, floor)
        )
        for rival in others
    )


def _why_not(rival: Candidate, choice: Candidate | None, noise: float, floor: float) -> Remark:
    degrees, needs = math.degrees(rival.fit.angle), rival.fit.needs()
    if needs > noise and noise <= floor:
        return Diagnosis.RIVAL_NEEDS_ERROR(degrees=degrees, needs=math.degrees(needs))
    if needs > noise:
        return Diagnosis.RIVAL_NEEDS_MORE_NOISE(
            degrees=degrees, needs=math.degrees(needs), factor=needs / noise
        )
    if choice is None:
        return Diagnosis.RIVAL_FITS(degrees=degrees)
    return Diagnosis.RIVAL_OF_LARGER_FAMILY(
        degrees=degrees, parameters=rival.fit.orbit, simpler=choice.name, fewer=choice.fit.orbit
    )


def closure_reason(closed: Closure) -> Remark:
    """How closed the span is."""
    if math.isnan(closed.noise):
        return Diagnosis.CLOSED_BY_DIMENSION()
    if closed.rms <= ROUNDING_RESIDUAL:
        return Diagnosis.CLOSED(rms=closed.rms)
    return Diagnosis.CLOSED_WITHIN_NOISE(rms=closed.rms, degrees=math.degrees(closed.noise))


def open_reason(closed: Closure, generated: int) -> Remark:
    """Why the span is not an algebra.

    `generated` is the dimension of the algebra that it generates.
    """
    if closed.noise >= 1:
        return Diagnosis.NOT_CLOSED(rms=closed.rms, generated=generated)
    return Diagnosis.NOT_CLOSED_WITHIN_NOISE(
        rms=closed.rms, degrees=math.degrees(closed.noise), generated=generated
    )


def fit_reason(choice: Candidate, noise: float, floor: float) -> Remark:
    """How near the named algebra is."""
    if noise <= floor:
        return Diagnosis.FITS_EXACTLY(name=choice.name, angle=max(choice.fit.angle, 1e-16))
    return Diagnosis.FITS_WITHIN_NOISE(
        name=choice.name,
        degrees=math.degrees(choice.fit.angle),
        needs=math.degrees(choice.fit.needs()),
        allowed=math.degrees(noise),
    )


def form_reasons(forms: Forms) -> tuple[Remark, ...]:
    """What an algebra preserves, and whether more than scalings commutes with it.

    >>> from liegg.algebra import preserved_forms, so, sp
    >>> form_reasons(preserved_forms(so(1, 3)))
    ('preserves a metric of signature (1, 3), volume',)
    >>> form_reasons(preserved_forms(sp(4)))
    ('preserves an antisymmetric form, volume',)
    """
    counts = {
        "symmetric form": len(forms.symmetric),
        "antisymmetric form": len(forms.antisymmetric),
        "vector": len(forms.fixed_vectors),
        "covector": len(forms.fixed_covectors),
    }
    words = [_words(count, noun) for noun, count in counts.items() if count]
    if forms.metric is not None:
        p, q, _ = signature(forms.metric, 0.0)
        words[0] = f"a metric of signature ({p}, {q})" if min(p, q) else "an inner product"
    words += ["volume"] if forms.traceless else []
    preserved = Diagnosis.PRESERVES(
        what=", ".join(words) or "no form, no vector, not even volume",
        volume=forms.traceless,
        **{noun.replace(" ", "_"): count for noun, count in counts.items()},
    )
    maps = len(forms.commutant) - 1
    # Where all maps commute with it, it consists of scalings.
    return (
        (preserved, Diagnosis.COMMUTANT(maps=maps))
        if 0 < maps < forms.commutant[0].numel() - 1
        else (preserved,)
    )


def _words(count: int, noun: str) -> str:
    if noun == "vector":
        return f"every vector of a subspace {abelian(count)}"
    if count == 1:
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return plural(count, f"independent {noun}")
