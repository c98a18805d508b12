"""The words of a page that are not plain, each in a sentence or two."""

GLOSSARY_TERMS = {
    "motion": "A change of the samples that can be small or large, such as rotating an image by any angle.",
    "invariant, equivariant": "Invariant: the output stays the same when the sample moves. Equivariant: the output moves "
    "along with the sample, as forces rotate with a molecule.",
    "symmetry": "A motion that leaves the output unchanged, or nearly so.",
    "predictions changed": "Share of samples for which the model predicts another class after the motion than before.",
    "classes, logits": "A classifier has one output per class, its logit; the class with the largest one is predicted.",
    "spread": "Standard deviation: of the outputs over the samples, or of the samples about their mean.",
    "change of the output": "Root mean square change of the output, in per cent of its spread: 0 % if nothing changes, about "
    "140 % if the output after the motion has nothing to do with that before it.",
    "random motions, random directions": "Mixtures of the candidates drawn at random, as long as needed to move the samples as "
    "far: what a model does that has no symmetry in particular.",
    "untrained, re-initialised": "The same network with new random weights. A model that is no better than these has its "
    "symmetry from its architecture, not from training.",
    "learned": "Clearly smaller in this model than in re-initialised ones.",
    "interval": "Where the value would lie with other samples of the same kind, in 95 of 100 cases unless stated otherwise.",
    "bootstrap, blocks": "How intervals are made: the samples are assigned to blocks, and the analysis is repeated on blocks drawn "
    "again and again.",
    "rank test, p": "How often chance alone would do as well, for example a re-initialised model; small values are clear.",
    "candidate": "A motion among which symmetries were searched. All mixtures of candidates are candidates too. In brackets are "
    "settings: of images, derivative and border say how they are computed between and beyond their pixels.",
    "direction": "A mixture of the candidates. The analysis sorts directions from the most to the least invariant.",
    "generator": "The velocity of a motion at its start: how fast, and where to, each point begins to move. It is a matrix A.",
    "vector field, ∂": "The same as a formula: x ∂y says that a point moves along y, as fast as its x is large.",
    "exp(tA), t": "The motion that a generator A makes when it is followed for the time t. For a rotation, t is the angle.",
    "defect δ²": "How much the output changes along a direction, compared with an average direction that moves the samples as "
    "far: 0 for an exact symmetry, 1 for an average direction. It is about very small motions.",
    "effect": "How much the output changes, in multiples of its spread, for a motion as large as the samples are spread, if it "
    "went on as it begins.",
    "grade": "How well a symmetry holds: exact, strong, approximate, weak, or none.",
    "threshold": "Largest defect that counts as a symmetry, or as a strong one.",
    "gap": "How many times larger the next defect is than that of the last symmetry. A large gap is a clear decision.",
    "nearest candidate, weak candidate": "Where no symmetry was found: the directions that change the output least.",
    "nonlinearity": "How far the model is from a linear function on these samples. A linear function has symmetries of its own, "
    "which say little about what was learned.",
    "shear, squeeze, elliptic rotation": "A shear slides layers along each other, as cards in a deck. A squeeze stretches along "
    "one axis and shrinks along another. An elliptic rotation moves points along ellipses instead of circles.",
    "linear map, eigenvalues": "A motion without a simpler word. Each eigenvalue is the rate at which points along some line "
    "move away; a pair a ± bi is a rotation at the rate b that grows at the rate a.",
    "levels": "Groups of directions with similar defects, where symmetries hold more and less well.",
    "undecided": "The samples do not tell: there are too few, the model's numbers are too coarse, or a motion was not tried on "
    "samples.",
    "noise, rounding, floor": "Differences that come from the computer's arithmetic. A defect below the floor cannot be told "
    "from 0.",
    "trivial": "A direction that does not move the samples, so that nothing can be learned about it.",
    "span": "All mixtures of the symmetries found. “Stable to 2°” says how far it would turn with other samples.",
    "basis": "One choice of generators for the same span. The readable one has few entries.",
    "orthonormal": "Of length 1 and at right angles to each other. The Frobenius length of a matrix is the root of the sum of its "
    "squared entries.",
    "velocity, angular speed, growth rate": "How fast a point moves, rotates about the origin, or moves away from it per unit of "
    "t. The eigenvalues of A hold them.",
    "spectrum": "The defects of all directions, in order.",
    "variance, bias": "The measures of the paper that introduced the method: σ²/|D| is the mean squared change of the output "
    "along a direction, the bias its distance from the named algebra.",
    "algebra": "The generators of all symmetries together; its name says which motions they are. so(n): rotations in n "
    "dimensions; so(p, q): those of space-time; sl(n): maps that keep volumes; sp(n): maps that keep areas of positions and "
    "momenta; u(n), su(n): rotations of complex vectors; gl(n): all linear maps; se(n) and aff(n): with translations.",
    "bracket, closed, commutes": "Two motions commute if their order does not matter; the bracket AB − BA is the difference. "
    "Generators are closed, and so an algebra, if their brackets are mixtures of them.",
    "form, metric, signature": "A form makes a number of two vectors, as the inner product does; rotations preserve it. The "
    "signature counts its positive and negative squares.",
    "boost, Lorentz, hyperbolic": "Motions that mix space and time as moving observers do; points follow hyperbolas.",
    "dimension": "Number of independent directions.",
    "tolerance": "The angle by which the generators may differ from a named algebra, given their errors (uncertainty).",
    "finite transformation": "A motion of real size, tried on samples, not only its beginning.",
    "one-parameter group": "All motions exp(tA) of one generator.",
    "curvature, resampling": "Curvature: how fast the change of the output grows at first. Resampling: what interpolation between "
    "pixels changes by itself.",
    "held-out samples": "Samples that the analysis did not use, kept for checking it.",
    "displacement": "How far a motion moves the samples: the root mean square over all their numbers.",
    "output change r": "Mean squared change of the output over its variance: the square of the change of the output.",
    "control": "The same computation where no symmetry is expected, for comparison.",
    "distribution, test functions": "The distribution says how often samples lie where. Test functions are fixed waves (random "
    "Fourier features); a motion that changes the mean of one changes the distribution.",
    "scale-free": "The same if inputs or outputs are measured in other units.",
    "rows": "Equations for the generators: one for each sample and output.",
}
"""Every term with its explanation, in the order of the page."""

FIRST_TERMS = 11
"""Terms of the answers at the top of a page, from "motion" to "interval"; the others are folded."""

WORDS_OF_MOTIONS = (
    "shear, squeeze, elliptic rotation",
    "linear map, eigenvalues",
    "boost, Lorentz, hyperbolic",
)
"""Terms that describe motions."""


def words_of_motions(text: str) -> tuple[tuple[str, str], ...]:
    """The terms that describe motions and occur in a text, for pages that have few other words.

    >>> [term for term, _ in words_of_motions("shear of x by y")]
    ['shear, squeeze, elliptic rotation']
    """
    found = [term for term in WORDS_OF_MOTIONS if any(word in text for word in term.split(", "))]
    return tuple((term, GLOSSARY_TERMS[term]) for term in found)
