"""Why a name was given, and why others were not, in sentences."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.closure import FLOOR, Closure
from liegg.algebra.families.candidates import Candidate
from liegg.algebra.forms.forms import preserved_forms
from liegg.algebra.identification import Alternative
from liegg.algebra.structure.real_forms import abelian


def rivals(
    found: list[Candidate], chosen: Candidate | None, noise: float, floor: float
) -> tuple[Alternative, ...]:
    """The candidates that were not chosen, nearest first, each with the reason.

    Args:
        found: all candidates.
        chosen: the one that was named; None if none was.
        noise: uncertainty that was allowed.
        floor: uncertainty of exact matrices.
    """
    others = sorted((one for one in found if one is not chosen), key=lambda one: one.fit.needs())
    return tuple(
        Alternative(one.name, one.fit.angle, one.fit.needs(), _why_not(one, chosen, noise, floor))
        for one in others
    )


def _why_not(one: Candidate, chosen: Candidate | None, noise: float, floor: float) -> str:
    away = f"{math.degrees(one.fit.angle):.2g}° away"
    if one.fit.needs() > noise:
        needs = f"an uncertainty of {math.degrees(one.fit.needs()):.2g}°"
        return f"{away}, which would take {needs}{'' if noise <= floor else f', {one.fit.needs() / noise:.2g} times as much'}"
    if chosen is None:
        return f"{away}, which the uncertainty explains"
    return (
        f"{away}, which the uncertainty explains as well, but of a larger family ({one.fit.orbit} parameters, {chosen.name} has "
        f"{chosen.fit.orbit}): the simpler one is named"
    )


def closure_reason(closed: Closure) -> str:
    """How closed the span is."""
    if math.isnan(closed.noise):
        return "closed under the bracket, as every span of its dimension"
    if closed.rms <= FLOOR:
        return f"closed under the bracket to {closed.rms:.0e}"
    return f"brackets leave the span by {closed.rms:.2g}, as they do when generators are off by {math.degrees(closed.noise):.2g}°"


def open_reason(closed: Closure, generated: int) -> str:
    """Why the span is no algebra."""
    whole = (
        f"; with their brackets they span {generated} dimensions"
        if generated > len(closed.residuals)
        else ""
    )
    off = (
        f"only generators off by {math.degrees(closed.noise):.2g}° would explain"
        if closed.noise < 1
        else "no small error explains"
    )
    return f"not closed under the bracket: brackets leave the span by {closed.rms:.2g}, which {off}{whole}"


def fit_reason(chosen: Candidate, noise: float, floor: float) -> str:
    """How near the named algebra is."""
    if noise <= floor:
        return f"in suitable coordinates the span is {chosen.name}, to {max(chosen.fit.angle, 1e-16):.0e}"
    return (
        f"the nearest {chosen.name} is {math.degrees(chosen.fit.angle):.2g}° away, which an uncertainty of "
        f"{math.degrees(chosen.fit.needs()):.2g}° explains; {math.degrees(noise):.2g}° was allowed"
    )


def form_reason(exact: Float[Tensor, "d n n"]) -> str:
    """What an algebra preserves, and what commutes with it.

    >>> from liegg.algebra import so, sp
    >>> form_reason(so(1, 3))
    'preserves a metric of signature (1, 3), volume'
    >>> form_reason(sp(4))
    'preserves an antisymmetric form, volume'
    """
    forms, n = preserved_forms(exact), exact.shape[1]
    kept = []
    if forms.metric is not None:
        values = torch.linalg.eigvalsh(forms.metric)
        p, q = int((values > 0).sum()), int((values < 0).sum())
        kept.append(f"a metric of signature ({p}, {q})" if min(p, q) else "an inner product")
    elif len(forms.symmetric):
        kept.append(_number(len(forms.symmetric), "symmetric form"))
    if len(forms.antisymmetric):
        kept.append(_number(len(forms.antisymmetric), "antisymmetric form"))
    if len(forms.fixed_vectors):
        kept.append(f"every vector of a subspace {abelian(len(forms.fixed_vectors))}")
    if len(forms.fixed_covectors):
        kept.append(_number(len(forms.fixed_covectors), "covector"))
    if forms.traceless:
        kept.append("volume")
    extra = len(forms.commutant) - 1
    commuting = (
        f"; besides scalings, {_number(extra, 'map')} {'commutes' if extra == 1 else 'commute'} with it"
        if 0 < extra < n * n - 1
        else ""
    )
    return (
        f"preserves {', '.join(kept) if kept else 'no form, no vector, not even volume'}{commuting}"
    )


def _number(count: int, what: str) -> str:
    return (
        f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
        if count == 1
        else f"{count} independent {what}s"
    )
