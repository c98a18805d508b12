"""Results of `discover_group` that tests of text, storage, figures and pages share, made without a search."""

import math

import torch

import liegg
from cases import normal
from liegg.algebra import close
from liegg.algebra.finite import permutation_group
from liegg.results.group_symmetries import Angle, GroupElement, GroupSymmetries

QUARTER = torch.tensor([[0.0, -1.0], [1.0, 0.0]]).double()
MIRROR = torch.tensor([[1.0, 0.0], [0.0, -1.0]]).double()
ONE = torch.eye(2).double()


def element(matrix, words, **values):
    """An element with evidence that says "exact" unless told otherwise."""
    evidence = {
        "kinds": ("vectors",),
        "source": "sign flip",
        "output_kinds": (),
        "output_matrices": (),
        "displacement": 1.4,
        "effect": 1e-16,
        "interval": (0.0, 2e-16),
        "reference": 1.3,
        "defect": 1e-32,
        "defect_high": 1e-31,
        "changed": 0.0,
        "grade": "exact",
    }
    return GroupElement(matrices=(matrix,), words=words, **(evidence | values))


def square_group(*, chiral=False, slots=None, continuous=None, **values):
    """D₄ in the plane, or C₄ where mirror images are refuted."""
    generators = torch.stack([QUARTER] if chiral else [QUARTER, MIRROR])
    group = close(generators, coordinates=["x", "y"])
    elements = tuple(
        element(matrix, words, component=i)
        for i, (matrix, words) in enumerate(zip(group.elements, group.words, strict=True))
    )
    broken = {"effect": 0.31, "interval": (0.2, 0.4), "defect": 0.05, "defect_high": 0.1}
    mirror = element(MIRROR, "reflection y → −y", grade="none", changed=0.2, **broken)
    untested = element(
        -ONE,
        "rotation by 180°",
        grade="not testable",
        effect=math.nan,
        interval=(0.0, math.inf),
        reason="it does not move the samples",
    )
    rejected = (mirror,) if chiral else (untested,)
    fields = {
        "elements": elements,
        "permutations": (),
        "rejected": rejected,
        "group": group,
        "slots": slots,
        "shifts": (),
        "angles": (),
        "kept_rotations": None,
        "continuous": continuous,
        "name": group.name,
        "sentence": f"{group.name}: {len(elements)} elements hold up to rounding (exact).",
        "tried": {"sign flip": 3},
        "judged": 9,
        "samples": (50, 50),
        "floor": 1e-14,
        "spread": 1.0,
        "notes": (),
        "settings": {
            "seed": 0,
            "action": liegg.Linear(2, names=["x", "y"]).settings(),
            "sample": [2],
        },
        "model": "Net",
    }
    return GroupSymmetries(**(fields | values))


def with_continuous():
    """The same with a continuous part, slots, angles and a permutation."""
    x = normal(80, 3, 2)
    action = liegg.Linear(2, copies=3)
    sym = liegg.discover(lambda x: x.square().sum(2), x, action)
    swap = element(torch.eye(3).double()[[1, 0, 2]], "swaps slots 1 and 2", kinds=("slots",))
    mirror = close(MIRROR[None], algebra=liegg.so(2))
    elements = tuple(
        element(matrix, words, component=i)
        for i, (matrix, words) in enumerate(zip(mirror.elements, mirror.words, strict=True))
    )
    return square_group(
        continuous=sym,
        slots=permutation_group([(1, 0, 2)], 3),
        permutations=(swap,),
        elements=elements,
        group=mirror,
        rejected=(),
        angles=(Angle(degrees=90.0, effect=0.01, interval=(0.0, math.inf), changed=None),),
        kept_rotations=(4, 0.01),
        shifts=(2, 0),
        name="O(2) × S₂",
        settings={"seed": 0, "action": action.settings(), "sample": [3, 2]},
    ), x
