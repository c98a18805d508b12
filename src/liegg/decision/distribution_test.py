"""How a data set was tested, as a record."""

from dataclasses import dataclass

from liegg.decision.two_sample import MovedTest


@dataclass(frozen=True)
class FurtherTest:
    """The directions found, tested by test functions that did not choose them.

    Attributes:
        functions: what the test functions are, in words.
        wavelength: their typical wavelength in units of the data's size; NaN if they have none.
        p_value: of all directions together.
    """

    functions: str
    wavelength: float
    p_value: float


@dataclass(frozen=True, eq=False, kw_only=True)
class DistributionTest:
    """How a data set was tested.

    Attributes:
        functions: what the test functions are, in words.
        combinations: independent combinations of them that were used.
        ratios: `[r]`, for each direction in the order of defects, the squared mean over what sampling noise makes of it: about 1
            for a symmetry.
        p_values: `[r]`, of each direction by itself.
        found: number of directions along which chance explains the means.
        span_p: p-value of all of these together; NaN if there is none.
        next_p: p-value of one more; NaN if no direction is left.
        dispersion: variance between blocks of samples over that of independent samples; copies and clusters make it larger than 1.
        moved: held-out samples moved along each symmetry, and samples moved by given elements, against others; empty if not asked.
        detectable: defect δ² that would have been seen with a probability of 95 %, along the symmetries found, or the nearest
            direction if there are none.
        further: tests of the directions found by further test functions, such as finer ones.
    """

    functions: str
    combinations: int
    ratios: tuple[float, ...]
    p_values: tuple[float, ...]
    found: int
    span_p: float
    next_p: float
    dispersion: float
    detectable: float
    moved: tuple[MovedTest, ...] = ()
    further: tuple[FurtherTest, ...] = ()
