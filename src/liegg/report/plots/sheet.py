"""The main figures of a result on one page."""

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from liegg.report.plots.defects import defects
from liegg.report.plots.matrices import generators
from liegg.report.plots.spectra import bias, spectrum
from liegg.report.plots.style import figure
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def overview(
    sym: Symmetries, reference: Float[Tensor, "e n n"] | None = None, name: str = ""
) -> "Figure":
    """Spectrum, bias (or defects where no reference is given) and generators on one page.

    Args:
        sym: the result of `discover`.
        reference: generators of a known algebra to compare with.
        name: its name.
    """
    made = figure(9.5, 6.4)
    top, bottom = made.subfigures(2, 1, squeeze=False, height_ratios=(1.15, 1)).flatten()
    left, right = top.subplots(1, 2)
    spectrum(sym, left)
    if reference is None:
        defects(sym, right)
    else:
        bias(sym, reference, name, right)
    generators(sym, bottom)
    return made
