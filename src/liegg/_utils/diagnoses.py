"""Diagnoses: every reason, warning and note that a result can carry, as members of one enumeration."""

import re
import string
from enum import Enum, StrEnum
from typing import Any

COUNTED_NOUN = re.compile(r"[A-Za-z][A-Za-z -]{2,}")
"""A noun in place of a format: `{n:sample}` becomes "1 sample" or "2 samples"."""

CHOSEN_WORD = re.compile(r"\?(.*)\|(.*)")
"""A choice in place of a format: `{n:?is|are}` becomes "is" where n is 1, else "are"."""


class Kind(StrEnum):
    """What a diagnosis is for."""

    VERDICT = "verdict"
    REASON = "reason"
    WARNING = "warning"
    NOTE = "note"


class Diagnosis(Enum):
    """A statement about an analysis: its kind, and a template of its words.

    A member is called with its values and gives a `Remark`: `Diagnosis.TEXT(text="as it was stored")`. Members are in groups, one
    for each folder that states them. `{n:sample}` counts a noun, `{n:?is|are}` chooses a word by number, `{text:Capital}` begins a
    sentence.
    """

    TEXT = (Kind.NOTE, "{text}")

    # decision/: the verdict
    NOTHING_MOVES = (Kind.VERDICT, "Undecided: no candidate direction moves the data.")
    UNDECIDED = (
        Kind.VERDICT,
        "Undecided: the data does not decide {undecided} of {total:direction}; no symmetry is claimed.",
    )
    NO_SYMMETRY = (
        Kind.VERDICT,
        "No symmetry: the nearest candidate moves the output by {percent} % of what an average direction does.",
    )
    WEAK_CANDIDATES = (
        Kind.VERDICT,
        "No symmetry: the nearest candidate moves the output by {percent} % of what an average direction does "
        "({weak:weak candidate}).",
    )
    WEAK_CLUSTER = (
        Kind.VERDICT,
        "{weak:weak symmetry}, not counted: {weak:?a direction|directions} along which the output moves by up to {percent} % of what "
        "it does along an average one, set apart from the rest by a gap of {gap:.3g} times.",
    )
    NO_CLEAR_COUNT = (
        Kind.VERDICT,
        "No clear count: {below:direction} {below:?lies|lie} below the threshold (the output moves by {percent} % of the average "
        "or more), but nothing separates {below:?it|them} from the rest.",
    )
    EXACT = (
        Kind.VERDICT,
        "{lower_bound:?At least |}{nullity:exact symmetry}: only rounding moves the output along {nullity:?it|them}.",
    )
    EXACT_EQUIVARIANCE = (
        Kind.VERDICT,
        "{lower_bound:?At least |}{nullity:exact symmetry}: the output moves as its action says, up to rounding.",
    )
    SYMMETRIES = (
        Kind.VERDICT,
        "{lower_bound:?At least |}{grades} {nullity:?symmetry|symmetries}: the output moves by at most {percent} % of what it does "
        "along an average direction.",
    )
    EQUIVARIANCES = (
        Kind.VERDICT,
        "{lower_bound:?At least |}{grades} {nullity:?symmetry|symmetries}: the output moves as its action says, up to {percent} % "
        "of what it moves along an average direction.",
    )
    VERIFIED_SYMMETRIES = (
        Kind.VERDICT,
        "{grades} {nullity:?symmetry|symmetries} under finite transformations of held-out samples: a motion by {motion:.2g} of the "
        "data's spread changes the output by at most {percent} % of its own spread.",
    )
    VERIFIED_EQUIVARIANCES = (
        Kind.VERDICT,
        "{grades} {nullity:?symmetry|symmetries} under finite transformations of held-out samples: for a motion by {motion:.2g} of "
        "the data's spread the output moves as its action says, up to {percent} % of its own spread.",
    )
    NONE_VERIFIED = (
        Kind.VERDICT,
        "No symmetry: {count:direction} {count:?looks like one|look like ones} by derivatives, but finite transformations of "
        "held-out samples, by {motion:.2g} of the data's spread, change the output by up to {percent} % of its own spread.",
    )

    # decision/: data sets
    DATA_UNDECIDED = (
        Kind.VERDICT,
        "Undecided: chance explains what {samples:sample} {samples:?shows|show} along {undecided} of {total:direction}, but does not "
        "exclude a large effect; no symmetry is claimed.",
    )
    DATA_DOUBTED = (
        Kind.VERDICT,
        "Undecided: the first test functions see hardly any change of {samples:sample} along {undecided} of {total:direction}, but "
        "something else speaks against {undecided:?it|them} (see the warnings); no symmetry is claimed.",
    )
    DATA_SYMMETRIES = (
        Kind.VERDICT,
        "{grades} {nullity:?symmetry|symmetries} of the distribution: chance explains what the test functions see along "
        "{nullity:?it|them}; a change above {percent} % of what an average direction makes would have been seen.",
    )
    DATA_NEAR_SYMMETRIES = (
        Kind.VERDICT,
        "{grades} {nullity:?symmetry|symmetries}: the distribution changes by at most {percent} % of what it does along an average "
        "direction, but by more than chance explains.",
    )
    DATA_NO_SYMMETRY = (
        Kind.VERDICT,
        "No symmetry: along the nearest candidate the distribution changes by {percent} % of what it does along an average direction.",
    )
    DATA_WEAK_CLUSTER = (
        Kind.VERDICT,
        "{weak:weak symmetry}, not counted: {weak:?a direction|directions} along which the distribution changes by up to {percent} % "
        "of what it does along an average one, set apart from the rest by a gap of {gap:.3g} times.",
    )
    DATA_EFFECT_TOO_LARGE = (
        Kind.REASON,
        "direction {place} has a defect of {defect:.2g}, but a motion as large as the data's spread would shift the test functions by "
        "{effect:.0%} of their standard deviation",
    )
    DATA_NO_REFERENCE = (
        Kind.REASON,
        "chance explains every candidate, so that there is no average motion to compare with: the threshold is a shift of the test "
        "functions by {effect} of their standard deviation for a motion as large as the data's spread",
    )
    DATA_FAILS_WHEN_MOVED = (
        Kind.WARNING,
        "held-out samples that are moved along {count:symmetry} ({names}) do not look like the others (p = {p:.2g}): the test "
        "functions do not see what tells them apart. Use others, or more",
    )
    DATA_FAILS_FURTHER = (
        Kind.WARNING,
        "further test functions ({functions}) change along {count:?the direction|these directions} by more than chance explains "
        "(p ≤ {p:.2g}): the distribution has structure there that the first ones hardly see, such as corners, so that it is not "
        "invariant",
    )
    DATA_THICK_SURFACE = (
        Kind.WARNING,
        "the samples are {percent} % of the data's size away from the surface that was fitted: the directions and the name are no more "
        "accurate than that",
    )
    DATA_LEVEL_NETWORKS = (
        Kind.WARNING,
        "{subject} was learned by two networks on halves of the samples; along these directions they differ by {percent} % of what an "
        "average motion changes, and a difference that both share is not seen",
    )
    DATA_LEFT_BY_MOTIONS = (
        Kind.WARNING,
        "all samples lie in a subspace, for example since a column is constant or repeats another. {count:candidate} "
        "{count:?does|do} not move samples or {count:?moves|move} them out of it, where nothing has a label; "
        "{count:?it is|they are} left out",
    )
    DATA_OFF_CENTRE = (
        Kind.WARNING,
        "the mean of the data is {ratio:.2g} times its spread away from 0, and rotations about a far point can hardly be "
        "distinguished from translations. Subtract the mean from the data",
    )
    DATA_CLUSTERED = (
        Kind.WARNING,
        "the samples lie in about {clusters:tight cluster}, which {clusters:?is|are} finer than what the test functions see. Give "
        "functions= that see {clusters:?it|them}, or analyse one cluster",
    )
    DATA_DEPENDS_ON_ORDER = (
        Kind.WARNING,
        "samples are like those before them, as in a series or a sorted file: they count as about {effective:independent sample}. "
        "If their order has no meaning, shuffle them; if they belong together in groups, give these in run=liegg.Run(groups=...)",
    )
    DATA_SORTED = (
        Kind.WARNING,
        "parts of the data differ, as in a file that is sorted, for example by class: the order was taken to have no meaning. If the parts "
        "are series, subjects or the like, which other data would replace by others, give them in run=liegg.Run(groups=...)",
    )
    DATA_COPIES = (
        Kind.WARNING,
        "{samples:sample} {samples:?counts|count} as about {effective} independent ones, since those that are equal, or in one group, "
        "count once. If the numbers take few values, such as small integers, no continuous motion leaves them unchanged",
    )
    DATA_CONSTANT_COLUMNS = (
        Kind.WARNING,
        "{names} {count:?is|are} constant in the data: no motion that changes {count:?it|them} is a symmetry, and a motion that adds "
        "{count:?it|them} to another column is a translation. Leave {count:?the column|these columns} out unless that is meant",
    )
    DATA_FEW_CARRY = (
        Kind.WARNING,
        "{count:sample} ({places}) {count:?has|have} {percent} % of the variance of all, so that {count:?it decides|they decide} how far "
        "motions move the data. If {count:?it is an outlier|they are outliers}, leave {count:?it|them} out",
    )
    DATA_MIXED_UNITS = (
        Kind.WARNING,
        "the sizes of the features differ by a factor of {ratio:.0f}: their motions are not comparable. Standardise the data",
    )
    CANNOT_TELL_FROM_CHANCE = (
        Kind.WARNING,
        "these test functions and {samples:sample} cannot tell any candidate from chance: more samples, or test functions that see "
        "more of the data, would decide",
    )
    NOT_EXCLUDED = (
        Kind.WARNING,
        "{count:further direction} {count:?is|are} not excluded: chance alone explains what the test functions see along "
        "{count:?it|them}, but {samples:sample} leave room for a large effect. More samples would decide",
    )

    # decision/: reasons
    COUNTED_AT_FLOOR = (
        Kind.REASON,
        "{nullity} of {total:direction} {nullity:?is|are} at the numerical floor {floor:.0e}",
    )
    COUNTED_ABOVE_FLOOR = (
        Kind.REASON,
        "{nullity} of {total:direction} {nullity:?has a defect|have defects} up to {largest:.2g}",
    )
    NONE_VIOLATES = (
        Kind.REASON,
        "none of {samples:sample} violates what is exact, so that at most {share:.2%} of such data do (95 %)",
    )
    GAP_AFTER = (Kind.REASON, "the next defect is {gap:.3g} times larger")
    NONE_LEFT = (Kind.REASON, "no direction is left")
    NEXT_UNSOLVED = (Kind.REASON, "the next defect was not solved for")
    SMALLEST_ABOVE_THRESHOLD = (
        Kind.REASON,
        "the smallest defect is {smallest:.2g}, above the threshold {threshold:g}",
    )
    NO_GAP = (
        Kind.REASON,
        "{below:defect} {below:?lies|lie} below the threshold {threshold:g} (from {smallest:.2g}), but no gap of {minimum_gap:g} "
        "times with separate intervals follows",
    )
    EFFECT_TOO_LARGE = (
        Kind.REASON,
        "direction {place} has a defect of {defect:.2g}, but a motion as large as the data's own spread would change the output by "
        "{effect:.0%} of its spread",
    )
    HOLD_AT_FINITE_SIZE = (
        Kind.REASON,
        "{holding} of {count:direction} {holding:?keeps its grade|keep their grades} when held-out samples move by up to "
        "{motion:.2g} of the data's spread (exact ones as far as they were followed), and {nullity} still {nullity:?counts|count}",
    )
    BORDERLINE = (
        Kind.REASON,
        "{count:?direction|directions} {places} in the order of defects {count:?is|are} near a boundary ({names})",
    )

    # decision/: warnings
    INVARIANT_UNDER_ALL = (
        Kind.WARNING,
        "no candidate direction moves the output beyond rounding, although other changes of the input do: the model is invariant "
        "under all candidates",
    )
    TOO_FEW_SAMPLES = (
        Kind.WARNING,
        "{samples} {different:?different |}{samples:?sample|samples} cannot decide {total:direction}: {lower_bound:?at least |}"
        "{undecided} {undecided:?is|are} not constrained by any sample. Use more than {needed:sample}",
    )
    FEW_SAMPLES = (
        Kind.WARNING,
        "only {samples} {different:?different |}{samples:?sample|samples} for {total:direction}: small defects may be chance. Use "
        "{needed} or more",
    )
    MORE_MAY_FOLLOW = (
        Kind.WARNING,
        "{solved:?the defect|the largest of the {solved} defects} solved for, {largest:.2g}, is below the threshold: there "
        "may be more symmetries. Solve "
        "for more: bottom={suggested}",
    )
    NO_EVIDENCE = (
        Kind.WARNING,
        "{directions:direction} with a small defect {directions:?is|are} not counted: the samples lie in a few tight "
        "clusters, or very "
        "few of them carry the sensitivity of the output, so that a small defect may be a missing constraint (see the notes)",
    )
    NO_INTERVAL = (
        Kind.WARNING,
        "no interval can be given for {directions:direction} that {directions:?counts|count}: single samples decide the "
        "defects, or the "
        "samples lie in clusters (see the notes). Other samples of this kind may give another answer",
    )
    UNSTABLE_SPAN = (
        Kind.WARNING,
        "{directions:direction} with a small defect {directions:?is|are} not counted: other samples of this kind would turn "
        "{directions:?it|them} by up to {degrees:.0f}°. About {carriers} of {samples:sample} {carriers:?carries|carry} the "
        "sensitivity of the output; use "
        "more samples where it changes",
    )
    JUMPS_NOT_EXCLUDED = (
        Kind.WARNING,
        "the output changes by {percent:.2g} % between samples where its derivative does not show it, nearly the {limit:.2g} % of a "
        "model that is refused: it may be steep, or hide a small jump (rounding, a look-up, a step). Pass held_out= "
        "to check with moved samples",
    )
    STANDARD_FAMILY = (
        Kind.REASON,
        "{name} as a whole has defects up to {defect:.2g}, below the threshold: as the only candidates they would count",
    )
    FEW_CARRY = (
        Kind.WARNING,
        "{directions:direction} with a small defect {directions:?is|are} not counted: {carriers} of {blocks} blocks of samples "
        "{carriers:?carries|carry} what changes there, so that a handful of samples decides, and an interval reaches {high:.2g}. "
        "Use more samples",
    )
    CLUSTER_GOES_ON = (
        Kind.WARNING,
        "{directions:more direction} up to {percent} % may belong to the same symmetry: the gap after {directions:?it|them} is {gap:.3g}, "
        "that after those that count only {own:.3g}. {directions:?It is|They are} not counted because of the size or the effect",
    )
    OUTPUT_BREAKS = (
        Kind.WARNING,
        "{directions:direction} with a small defect {directions:?is|are} not counted: output {output} (of {outputs}, counted from "
        "0) alone moves by {percent:.0f} % of its own average there, which larger outputs hide. Divide every output by its "
        "spread, or analyse it alone",
    )
    SPAN_NOT_CLOSED = (
        Kind.WARNING,
        "the brackets of the {directions:direction} leave their span by up to {residual:.2g}: they do not generate a group of this "
        "dimension, so some of them are not symmetries, or the candidates lack what closes them. Use more samples, or another family "
        "of candidates",
    )
    LEVEL_NOT_CLOSED = (
        Kind.WARNING,
        "{directions:direction} below the threshold {directions:?is|are} not counted: together with the others the brackets leave "
        "the span by up to {residual:.2g}, without {directions:?it|them} they do not",
    )
    EXACT_UNDECIDED = (
        Kind.WARNING,
        "{directions:direction} {directions:?is|are} exact on these samples, but their brackets leave their span by up to "
        "{residual:.2g}, so that some are not symmetries: {left} {left:?is|are} undecided. Samples where the output reacts in "
        "another way would decide; a handful of them may be missing",
    )
    EXACT_LOWERED = (
        Kind.WARNING,
        "{directions:direction} {directions:?is|are} exact on these samples, but their brackets leave their span by up to "
        "{residual:.2g}, so that some are not: {left} {left:?is|are} graded {grade}, like the next ones, with which they are closed",
    )
    RARELY_VIOLATED = (
        Kind.WARNING,
        "only one half of the samples shows all directions that are not exact: {exact:direction} {exact:?is|are} exact where the "
        "samples cover the input, but what a handful of samples violates, others may violate more. No interval of the count is given",
    )
    LEVEL_FAR = (
        Kind.WARNING,
        "{directions:direction} below the threshold {directions:?is|are} not counted: together with the others "
        "{directions:?it is|they are} {degrees:.0f}° away from the nearest algebra, {name}",
    )
    UNCERTAIN_SPAN = (
        Kind.WARNING,
        "the {directions:?direction|{directions} directions} may be off by up to {degrees:.0f}°: no gap sets the last apart "
        "from the next, or few samples "
        "determine {directions:?it|them} (about {carriers} of {samples:sample} {carriers:?carries|carry} the sensitivity of "
        "the output)",
    )
    MIXED_SIZES = (
        Kind.WARNING,
        "the sizes of the data along its principal axes differ by a factor of {ratio:.0f}: motions along the longer ones look like "
        "symmetries, and other units of the features give other defects. Standardise the data, and undo it before the model",
    )
    MIXED_UNITS = (
        Kind.WARNING,
        "the sizes of the features differ by a factor of {ratio:.0f}: their motions are not comparable, and directions along the "
        "larger ones look like symmetries. Standardise the data, and undo it before the model",
    )
    NARROW_CONE = (
        Kind.WARNING,
        "{percent:.0f} % of the data's squared size lies along one axis: the result holds in that narrow cone. Add samples in other "
        "directions to know more",
    )
    NOT_MOVED = (
        Kind.WARNING,
        "{count:direction} {count:?does|do} not move the data (a subspace, a constant feature, or only rounding); {count:?it is|they "
        "are} undecided without data that {count:?it moves|they move}",
    )
    BARELY_MOVED = (
        Kind.WARNING,
        "{count:direction} {count:?moves|move} the data by less than {percent:.2g} % of what is possible: the data covers too little "
        "there to decide. Add samples that vary more along {count:?it|them}",
    )
    NEARLY_LINEAR = (
        Kind.WARNING,
        "the model is nearly linear on this data (nonlinearity {percent:.2g} %), and a linear function has many symmetries of its "
        "own. Data with a wider spread would separate learned symmetries from these",
    )
    ONLY_ROUNDING = (
        Kind.WARNING,
        "only rounding moves the output: its derivatives change whenever the samples are rounded differently, so that its symmetries "
        "are undecided",
    )
    EXACT_REFUTED = (
        Kind.WARNING,
        "moved along the exact directions by up to the data's spread, {samples} samples change the output by {percent:.2g} % of its "
        "spread, and the derivative along the motion does not account for it: it hides a part of the output (.detach(), rounding, a step)",
    )
    EXACT_AT_SAMPLES = (
        Kind.WARNING,
        "moved along the exact directions by up to the data's spread, {samples} samples change the output by {percent:.2g} % of its "
        "spread, as the derivative there says: the directions are exact at the samples, but not where these motions lead. More "
        "samples there would decide. No interval of the count is given",
    )
    EXACT_UNTRIED = (
        Kind.WARNING,
        "the exact directions could not be tried at finite size: the model fails, or has no finite output, on samples moved along "
        "them. A part of the output that the derivative does not show (.detach(), rounding, a step) cannot be excluded",
    )
    CHANGES_OUTSIDE = (
        Kind.WARNING,
        "the data lies in a subspace that symmetries leave: to first order the output stays, but moved along them by up to their spread, "
        "{samples} samples change the output by {percent:.2g} % of its spread. Samples outside the subspace would decide",
    )
    CLASS_REFUTED = (
        Kind.WARNING,
        "the data lies in a subspace; to first order the symmetries there are {name}, but moved along it by up to their spread, "
        "{samples} samples change the output by {percent:.2g} % of its spread. Samples outside the subspace would decide",
    )
    FAILS_AT_FINITE_SIZE = (
        Kind.WARNING,
        "{failing} of {count:direction} {failing:?does|do} not hold under finite transformations of held-out samples as far as the "
        "grade claims: {failing:?it changes|they change} the output by up to {percent} % of its spread, as far as the "
        "samples were moved. Derivatives at the analysed samples do not show what the model does between and beyond them",
    )

    # decision/: notes
    FEW_BLOCKS = (
        Kind.NOTE,
        "no intervals: the samples fill only {blocks:block} of a bootstrap; {needed} are needed. Use more different samples or groups",
    )
    CLUSTERED = (
        Kind.NOTE,
        "no intervals: the samples lie in about {clusters:tight cluster}, which {clusters:?is|are} hardly more evidence than "
        "{clusters:?one sample|as many samples}. Give "
        "the samples of a cluster one label in groups=, or use samples that are not copies of a few",
    )
    DOMINATED = (
        Kind.NOTE,
        "no intervals: a few samples carry nearly all of the sensitivity, so that {samples:sample} {samples:?counts|count} "
        "as about {effective:.2g}. "
        "Look at the largest samples: leave out outliers, or use many more samples",
    )
    FEW_MOVE = (
        Kind.NOTE,
        "no intervals: of {samples:sample}, a few carry most of the motion of the data, and others most of the change of the output, so "
        "that what these few change is seldom seen. Look at the largest samples: leave out outliers, or use many more samples",
    )
    HEAVY_TAILS = (
        Kind.NOTE,
        "wide intervals: a few samples carry most of the sensitivity, so that {samples:sample} {samples:?counts|count} as "
        "about {effective:.2g}. "
        "Look at the largest samples: leave out outliers, or use many more samples",
    )
    MANY_CANDIDATES = (
        Kind.NOTE,
        "no intervals: with {candidates:candidate} the blocks of samples would need too much memory; restrict the action",
    )
    HALVED_BATCHES = (
        Kind.NOTE,
        "the batches did not fit into the memory of the {device}: they were halved, down to {samples:sample}",
    )

    # decision/: controls
    LEARNED = (
        Kind.REASON,
        "learned: {dimension:direction} more symmetric than in all control models (p = {p})",
    )
    NOT_LEARNED = (
        Kind.REASON,
        "not clearly learned: {dimension:direction} not more symmetric than in all control models (p = {p})",
    )
    TOO_FEW_DRAWS = (
        Kind.REASON,
        "undecided whether learned: {dimension:direction} more symmetric than in all control models, but p cannot go below {p} with "
        "{draws} of them; {needed} can decide",
    )

    # discovery/verification: notes
    VERIFICATION_FAILED = (Kind.NOTE, "the verification on held-out samples is missing: {error}")
    NOTHING_TO_VERIFY = (Kind.NOTE, "there is no symmetry to verify: none was found")
    NO_GENERATOR_GIVEN = (Kind.NOTE, "no generator was given to verify")
    # discovery/group/: finite elements
    GROUP_FLAT_DATA = (
        Kind.NOTE,
        "the vectors of the data span only {rank} of {dimension:dimension}: what an element does outside is not testable. Leave out "
        "constant coordinates, or pass samples that span the space",
    )
    GROUP_FEW_SAMPLES = (
        Kind.NOTE,
        "{samples:distinct sample} {samples:?is|are} too few to solve for {unknowns:number}; only structured elements were tried",
    )
    GROUP_NO_STARTS = (Kind.NOTE, "starts=0: only structured elements were tried")
    GROUP_STRUCTURED_ONLY = (
        Kind.NOTE,
        "matrices of side {dimension} are not searched, only structured elements were tried (the limit is {most})",
    )
    GROUP_SEARCHED = (
        Kind.NOTE,
        "in {dimension} dimensions a search from {starts:random start} may miss elements, above all in skew coordinates: the group "
        "that was found may be a part of a larger one. starts= takes more",
    )
    GROUP_MIXED = (
        Kind.NOTE,
        "together, but not alone, these are a symmetry (effect {effect:.2g}): {words}; the name calls such symmetries mixed pairs",
    )
    GROUP_LOCAL = (
        Kind.NOTE,
        "the continuous symmetries hold to first order at the samples, but finite motions change the output by {effect:.2g} of its "
        "spread: they are not part of the group, and only structured elements were tried. Is continuous= the result of this model?",
    )
    GROUP_COMPLETED = (
        Kind.NOTE,
        "the samples lie in a subspace that the continuous symmetries leave; of the motions that are equal there (up to "
        "{count:direction} that {count:?does|do} not move this data), those were taken that leave the output unchanged at moved samples, "
        "too",
    )
    GROUP_LEAVES_DATA = (
        Kind.NOTE,
        "{count:continuous symmetry} {count:?leads|lead} out of the subspace in which the samples lie: "
        "{count:?it is|they are} known to first order only, not testable for finite motions, and not part of the name",
    )
    GROUP_SOME_PERMUTATIONS = (
        Kind.NOTE,
        "of the permutations of {slots} slots only swaps, cycles, reversals, exchanges of blocks and those that probes of pairs of "
        "slots suggest were tried; there may be others",
    )
    GROUP_RAGGED_SLOTS = (
        Kind.NOTE,
        "samples have different numbers of points, so that permutations of them were not tried",
    )
    GROUP_INTERPOLATION = (
        Kind.NOTE,
        "interpolation alone changes the output by {loss:.2g} of its spread (these images rotated by 45° and back), so that smaller "
        "effects of rotations between pixels say nothing. Smoother images lose less",
    )
    GROUP_IMPLIED = (
        Kind.NOTE,
        "an element ({source}) takes every sample of this shape to where the continuous symmetries take it, so that they imply it",
    )
    CONSTANT_HELD_OUT_OUTPUT = (
        Kind.NOTE,
        "the output is the same for all samples up to rounding, so there is no variance to compare a change with",
    )
    CURVES_OF_OTHERS = (
        Kind.NOTE,
        "{count:?the further curve is that|the further curves are those} of {count:direction} that {count:?looks|look} like "
        "{count:?a symmetry|symmetries} by "
        "derivatives but {count:?fails|fail} under finite transformations",
    )
    CONTROLS_INSIDE_SPAN = (
        Kind.NOTE,
        "the generators span all candidates, so random directions are combinations of them; an action with more candidates "
        "gives a comparison",
    )
    NEARLY_PERIODIC = (
        Kind.NOTE,
        "{count:?generator|generators} {generators} {count:?returns|return} only nearly, to {gap:.0%} of the data's spread",
    )
    INCOMMENSURABLE = (
        Kind.NOTE,
        "{count:?generator|generators} {generators}: rotations that never return together, followed for one turn of the slowest, "
        "at most {turns} of the fastest",
    )
    NO_PREDICTION_OUTPUTS = (
        Kind.NOTE,
        "no curvature was predicted: the analysis did not take each output alone (outputs='each')",
    )
    NO_PREDICTION_PAPER = (
        Kind.NOTE,
        "no curvature was predicted: derivative='paper' measures slopes in other units than motions",
    )

    SELECTED_TIMES = (
        Kind.NOTE,
        "samples of {numbers} numbers: measured at selected times, random directions and elements of the group on "
        "{share:sample} each; effort='full' measures all",
    )

    # discovery/verification: what a curve shows
    HOLDS_FOR_PERIOD = (Kind.REASON, "holds over the complete period, r at most {change:.2g}")
    HOLDS_THROUGHOUT = (
        Kind.REASON,
        "holds up to {extent}, as far as it was followed, r at most {change:.2g}",
    )
    HOLDS_UP_TO = (Kind.REASON, "holds up to {extent}, r up to {change:.2g}")
    CONTROLS_HOLD_TOO = (
        Kind.REASON,
        "so do random directions of equal displacement: this is no evidence",
    )
    CONTROLS_FAIL = (Kind.REASON, "random directions of equal displacement up to {extent}")
    CLASSES_CHANGE = (
        Kind.REASON,
        "classes change for up to {share:.1%} of the samples (random: {control:.1%})",
    )
    RESAMPLING_CHANGE = (Kind.REASON, "resampling alone makes r up to {change:.2g}")
    CURVATURE_AGREES = (Kind.REASON, "initial curvature agrees with the prediction ({ratio:.3g}×)")
    CURVATURE_DIFFERS = (
        Kind.REASON,
        "initial curvature differs from the prediction ({ratio:.3g}×)",
    )
    CURVATURE_AT_FLOOR = (Kind.REASON, "initial curvature is at the numerical floor, as predicted")
    CURVATURE_UNPREDICTED = (Kind.REASON, "initial curvature is not what was predicted")
    VERIFIED = (
        Kind.REASON,
        "{holding} of {count:generator} {holding:?holds|hold} as far as followed, on {samples:held-out sample}, "
        "r at most {change:.2g}",
    )
    CONTROLS_FAIL_AFTER = (
        Kind.REASON,
        "random directions fail after {percent:.2g} % of that distance",
    )
    NEAREST_VERIFIED = (
        Kind.REASON,
        "no symmetry was found to verify; the nearest candidate, {sentence}",
    )

    # results/answer: named motions
    MOTION_NAMED = (Kind.REASON, "{motion}")
    MOTION_CHANGES_PREDICTIONS = (
        Kind.REASON,
        "{motion} {size} changes {share} of the predictions ({low} to {high}), random motions as large {random}",
    )
    MOTION_CHANGES_BUT_OUTPUT = (
        Kind.REASON,
        "{motion} {size} changes {share} of the predictions ({low} to {high}), random motions as large {random}, but it changes the "
        "output by {percent} of its spread",
    )
    MOTION_CHANGES_BUT_UNDEFINED = (
        Kind.REASON,
        "{motion} {size} changes {share} of the predictions ({low} to {high}), random motions as large {random}, and makes the output "
        "infinite or NaN for {percent} of the samples",
    )
    MOTION_UNDEFINED = (
        Kind.REASON,
        "{motion} {size} makes the output infinite or NaN for {percent} of the samples; {random}",
    )
    MOTION_CHANGES_OUTPUT = (
        Kind.REASON,
        "{motion} {size} changes the output by {percent} of its spread; {random}",
    )
    MOTION_CHANGES_LARGEST = (
        Kind.REASON,
        "{motion} {size} changes {share} of the predictions ({low} to {high}), if the outputs are classes, and the output by {percent} "
        "of its spread; {random}",
    )
    MOTION_CHANGES_PART = (
        Kind.REASON,
        "{motion} {size} changes {part} by {percent} of the spread; {random}",
    )
    MOTION_CHANGES_PART_AND_PREDICTIONS = (
        Kind.REASON,
        "{motion} {size} changes {part} by {percent} of the spread, and {share} of the predictions ({low} to {high}); {random}",
    )
    MOTION_CHANGES_NOTHING_OF = (
        Kind.REASON,
        "{motion} {size} does not change {part}, up to rounding; {random}",
    )
    MOTION_CHANGES_NOTHING = (
        Kind.REASON,
        "{motion} {size} does not change the output, up to rounding; {random}",
    )
    MOTION_CHANGES_EQUIVARIANCE = (
        Kind.REASON,
        "{motion} {size} moves the output away from where it should go, by {percent} of its spread; {random}",
    )
    MOTION_MOVES_ALONG = (
        Kind.REASON,
        "{motion} {size} moves the output along as it should, up to rounding; {random}",
    )
    MOTION_FIRST_ORDER = (
        Kind.REASON,
        "{motion}, if small, moves {what} by {percent} of what an average motion does",
    )
    MOTION_CHANGES_DISTRIBUTION = (
        Kind.REASON,
        "{motion} changes the distribution of the data by at most {percent} of what an average motion does",
    )
    MOTIONS_NOT_TRIED = (
        Kind.NOTE,
        "named motions were not tried on samples: the model fails on moved ones ({error})",
    )
    MOTIONS_BY_DERIVATIVES = (
        Kind.NOTE,
        "{motions} {count:?was|were} answered from derivatives alone, because {samples:sample} {samples:?is|are} too few to "
        "move some at little cost; ask by name (about=) to move up to {most}",
    )
    FIRST_BATCH_MOVED = (
        Kind.NOTE,
        "the {moved:sample} that named motions move are from the first batch, because the data cannot be indexed; shuffle it if "
        "it is sorted",
    )
    OUTPUTS_READ_AS_CLASSES = (
        Kind.NOTE,
        "the {outputs} outputs are read as logits of classes, because their sum hardly varies (target='values' if they are not)",
    )
    ONE_OUTPUT_IS_A_VALUE = (
        Kind.NOTE,
        "there is one output, which is read as a value; for a classifier with one logit z, pass a function that returns "
        "torch.stack([-z, z], 1), and predictions are counted",
    )
    OUTPUTS_UNDECIDED = (
        Kind.NOTE,
        "nothing says whether the {outputs} outputs are classes or values, so that verdicts are about the change of the output "
        "(target='classes' or target='values' says it)",
    )
    MOTION_UNDECIDED = (Kind.VERDICT, "undecided by this data")
    MOTION_MOVES_NOTHING = (Kind.VERDICT, "undecided, because it does not move this data")
    MOTION_NOT_MEASURED = (Kind.VERDICT, "undecided, because no samples were moved")
    MOTION_NOT_TRIED = (Kind.VERDICT, "undecided, because it was not tried at finite size")
    MOTION_EXACT = (Kind.VERDICT, "exactly {adjective}")
    MOTION_NEARLY = (Kind.VERDICT, "nearly {adjective}")
    MOTION_MILDER = (
        Kind.VERDICT,
        "not {adjective}, but less sensitive to it than to random motions",
    )
    MOTION_BREAKS = (Kind.VERDICT, "not {adjective}")
    CLEARLY_BETTER_THAN_UNTRAINED = (
        Kind.REASON,
        "clearly better than untrained (a smaller defect than {draws:re-initialised model}, p = {p:.2g})",
    )
    BETTER_THAN_UNTRAINED = (
        Kind.REASON,
        "a smaller defect than {draws:re-initialised model}, which are too few to be sure",
    )
    NO_BETTER_THAN_UNTRAINED = (
        Kind.REASON,
        "not clearly better than untrained ({draws:re-initialised model}, p = {p:.2g})",
    )

    MOTION_NOT_COMPARED = (
        Kind.REASON,
        "it is undecided whether {model} or {other} is more {adjective} to {motion}{because}",
    )
    MOTION_CHANGES_LESS = (
        Kind.REASON,
        "{model} is clearly more {adjective} to {motion} than {other}: {size} it {one} instead of {instead} ({points}{samples})",
    )
    MOTION_CHANGES_ALIKE = (
        Kind.REASON,
        "neither is clearly more {adjective} to {motion}: {size} {model} {one}, {other} {instead} ({points}{samples})",
    )
    MOTION_SMALLER_DEFECT = (
        Kind.REASON,
        "{model} is clearly more {adjective} to {motion} than {other} if the motion is small, each compared with its own average "
        "motion (δ² {ratio} times smaller); larger motions were not compared",
    )
    MOTION_EQUAL_DEFECT = (
        Kind.REASON,
        "neither is clearly more {adjective} to {motion} if the motion is small, each compared with its own average motion (δ² in "
        "{other} is {ratio} times that in {model}); larger motions were not compared",
    )

    # discovery/compare: notes
    INDEPENDENT_INTERVALS = (
        Kind.NOTE,
        "intervals of directions are taken as independent, also if both results are of the same samples",
    )
    TASKS_DIFFER = (
        Kind.NOTE,
        "the outputs of {classes} are read as classes, those of {values} as values, so that changes of the output are compared; "
        "target='classes' in both calls compares changed predictions",
    )
    TASK_ASSUMED = (
        Kind.NOTE,
        "nothing says whether the outputs of {values} are classes; they are compared as classes, because those of {classes} are "
        "(target='values' if they are not)",
    )
    SIZES_DIFFER = (
        Kind.NOTE,
        "{motions} {count:?was|were} tried at other sizes or angles in {first} than in {second}, so that only derivatives are compared; "
        "ask both in the same way (about=)",
    )
    NO_INTERVALS = (Kind.NOTE, "{model} has no intervals")
    NO_INTERVALS_FOR_OTHERS = (
        Kind.NOTE,
        "{model} has no intervals for directions that only the other has",
    )
    SETTING_DIFFERS = (Kind.NOTE, "{name} was {a!r} in {first} and {b!r} in {second}")
    ACTION_DIFFERS = (
        Kind.NOTE,
        "the motions were computed by {a} in {first} and by {b} in {second}",
    )

    # discovery/compare: which symmetries
    NOT_COMPARABLE = (
        Kind.REASON,
        "Not decided: directions are left open in {models} (too few samples, or nothing that changes along them), so the two cannot "
        "be compared",
    )
    SAME_ALGEBRA = (Kind.REASON, "Both are {adjective} under {algebra}")
    SAME_DIRECTIONS = (
        Kind.REASON,
        "Both are {adjective} under the same {shared:?direction|{shared} directions} ({a}, {b})",
    )
    ONE_CONTAINS_OTHER = (
        Kind.REASON,
        "{larger} has the {part} of {smaller} and {more:more direction}, {algebra} in all",
    )
    PARTLY_SHARED = (
        Kind.REASON,
        "{shared:direction} shared; {only_a} more only in {first} ({a} in all), {only_b} only in {second} ({b} in all)",
    )
    NOTHING_SHARED = (
        Kind.REASON,
        "No symmetry in common: {a} in {first}, {b} in {second}, at least {angle:.2g}° apart",
    )
    ONLY_ONE_SYMMETRIC = (
        Kind.REASON,
        "{one} is {adjective} under {algebra}, {other} has no symmetry",
    )
    DATA_HAS_NOTHING_TO_KEEP = (Kind.VERDICT, "{data} has no symmetry that a model could keep")
    MODEL_KEEPS = (
        Kind.VERDICT,
        "{model} keeps {shared} of {total:symmetry} that {data} has ({algebra})",
    )
    MODEL_BEYOND = (
        Kind.VERDICT,
        "{beyond:symmetry} of {model} {beyond:?is|are} beyond the data: {data} does not have {beyond:?it|them}",
    )
    MODEL_BREAKS = (Kind.VERDICT, "{broken:symmetry} of {data} {broken:?is|are} broken by {model}")
    NEITHER_SYMMETRIC = (Kind.REASON, "No symmetry in either")
    DEFECT_IN_OTHER = (Kind.REASON, "along the symmetries of {one}, {other} has a δ² of {defects}")
    NEAREST_CANDIDATES = (
        Kind.REASON,
        "the nearest candidate has a δ² of {a} in {first} and {b} in {second}",
    )
    CLEARLY_CLOSER = (Kind.REASON, "{model} clearly comes closer")
    NOT_CLEARLY_CLOSER = (Kind.REASON, "neither clearly comes closer")

    # discovery/compare: which model is more symmetric
    BOTH_EXACT = (Kind.REASON, "{where}both are exact")
    ONE_EXACT = (Kind.REASON, "{where}{exact} is exact, {other} has a mean δ² of {defect}")
    AMOUNT_UNKNOWN = (Kind.REASON, "{where}the amounts cannot be compared")
    MEANS_ONLY = (
        Kind.REASON,
        "{where}the mean δ² is {a} in {first} and {b} in {second}, without intervals",
    )
    MORE_SYMMETRIC = (Kind.REASON, "{where}{model} is {ratio} times more {adjective}")
    NOT_MORE_SYMMETRIC = (
        Kind.REASON,
        "{where}neither is clearly more {adjective} (mean δ² in {second} over that in {first}: {ratio})",
    )
    MORE_SYMMETRIC_ON_SOME = (Kind.REASON, "{model} clearly is on {count} of {shared}")
    OUTPUTS_DIFFER = (Kind.REASON, "but they move the outputs differently, by {percent:.0f} %")

    # inputs
    COMPILED_MODEL = (
        Kind.NOTE,
        "the model, or a part of it, is compiled by torch.compile; the original was analysed",
    )
    MODEL_NOT_COPIED = (
        Kind.NOTE,
        "the model could not be copied ({error}), so it was analysed in place and restored",
    )
    SEVERAL_WEIGHT_TYPES = (
        Kind.NOTE,
        "the weights have several types ({types}); the samples were passed as {dtype}",
    )
    COARSE_ARITHMETIC = (
        Kind.NOTE,
        "the model computes in {arithmetic} on {dtype} samples: differences within the rounding of "
        "{arithmetic} count as zero",
    )
    CALLED_AS = (Kind.NOTE, "the model was called as {call}; call= changes this")
    HELD_LEAVES = (
        Kind.NOTE,
        "held in every sample: {leaves}; what the model computes from moved numbers, such as neighbours, follows them",
    )
    DERIVED_LEAF = (
        Kind.WARNING,
        "{leaf} holds {what} of {moved}, and was held: the answer is about samples in which it does not follow {moved}. Compute it "
        "inside the model{advice}",
    )
    UNUSED_LEAVES = (Kind.NOTE, "not passed to the model, which has no such arguments: {leaves}")
    MASKED_POINTS = (
        Kind.NOTE,
        "points of {leaf} where {mask} is {value} are padding, and were not moved",
    )
    MASK_NOT_TAKEN = (
        Kind.NOTE,
        "all points of {leaf} were moved: {mask} was not taken as a mask of padding, because {reason}",
    )
    RAGGED_SAMPLES = (
        Kind.NOTE,
        "samples have different numbers of points, at most {most} in {leaf}; the data was read once before to see how many",
    )
    OBVIOUS_FIELD = (
        Kind.NOTE,
        "the model returns fields ({fields}), of which {field} was analysed; output= chooses another",
    )
    UNCALIBRATED = (
        Kind.NOTE,
        "normalisation layers have mean 0 and variance 1 after the reset; "
        "liegg.inputs.reinitialise.calibrate takes them from data",
    )
    PARAMETERS_NOT_RESET = (
        Kind.NOTE,
        "{n} of {total:parameter} {n:?keeps its trained value|keep their trained values} because "
        "no reset writes {n:?it|them}: {names}",
    )
    RESET_NOT_CALLED = (Kind.NOTE, "{method} of {module} was not called: {error}")

    # polarization
    MANY_ROWS = (
        Kind.NOTE,
        "each sample gives {rows} rows of {columns} numbers ({size}); outputs=16 takes random "
        "combinations instead",
    )
    ROUTE_NOT_USED = (Kind.NOTE, "torch.func.{route} cannot transform this model ({reason})")
    AUTOGRAD_ROUTE = (Kind.NOTE, "plain autograd was used instead")
    CONSTANT_SUM = (
        Kind.REASON,
        "the sum of the outputs is the same for {where} although each output varies (a "
        "softmax head?). Use outputs='each'.",
    )
    CONSTANT_OUTPUT = (
        Kind.REASON,
        "the output is the same for {where} and nothing moves it: its symmetries are "
        "undecided. Check the model's weights and the scale of the data.",
    )
    PIECEWISE_CONSTANT = (
        Kind.REASON,
        "the output varies over the data, but its derivative is zero at every sample in every "
        "candidate direction: either the model is piecewise constant (rounding, argmax, step), and "
        "derivatives cannot show its symmetries (analyse the layer before), or no candidate moves "
        "what it reads.",
    )
    ESTIMATOR_METHOD = (Kind.NOTE, "the model is an estimator, of which .{method} was called")
    JAX_FUNCTION = (
        Kind.NOTE,
        "the model is a function in JAX, called and differentiated in {dtype}",
    )
    ONNX_RUNTIME = (Kind.NOTE, "the model is evaluated by onnxruntime")
    ONNX_NOT_CONVERTED = (
        Kind.NOTE,
        "the model is evaluated by onnxruntime, because it could not be converted to torch ({reason})",
    )
    ARRAY_FUNCTION = (Kind.NOTE, "the model was called with numpy arrays")
    DETACHED_GRADIENT = (
        Kind.NOTE,
        "the model takes a gradient of its own and detaches it, so that derivatives are finite differences; "
        "torch.autograd.grad of the input itself has exact ones",
    )
    FINITE_DIFFERENCES = (
        Kind.NOTE,
        "derivatives are central differences along {candidates:candidate}, {each:evaluation} per sample; intervals cover their error",
    )
    NOISY_MODEL = (Kind.NOTE, "the model has noise of {percent:.2g} % of the size of its output")
    BUDGET = (
        Kind.NOTE,
        "{samples} of {total:sample}, evenly spaced, were read to stay within the budget of {budget:evaluation}",
    )
    STEP_FUNCTION = (
        Kind.WARNING,
        "the model is piecewise constant, as trees are: small changes of a sample mostly leave the output exactly as it is, so "
        "that it has no infinitesimal symmetry. Finite transformations are measured instead; see sym.answers",
    )
    ERROR_HIDES = (
        Kind.WARNING,
        "{directions:direction} that {directions:?is|are} not counted may be {directions:?a symmetry|symmetries}: finite "
        "differences are off by up to {percent:.2g} % of what an average direction does. A model with less noise would decide",
    )
    ONLY_NOISE = (
        Kind.WARNING,
        "no candidate moves the output beyond the error of finite differences, so that its symmetries are undecided",
    )
    HIDDEN_UNCHECKED = (
        Kind.NOTE,
        "it could not be checked whether the derivative shows the whole change of the output: there is only one sample, the output is "
        "constant up to rounding, the model is too noisy, or it fails between samples",
    )
    HIDDEN_DERIVATIVE = (
        Kind.WARNING,
        "the derivative does not show {percent:.3g} % of the output's change between samples ({kind}): the result is that of "
        "another function, whose derivative this is. Remove what hides it (.detach(), no_grad, rounding, a look-up)",
    )
    DEAD_OUTPUTS = (
        Kind.WARNING,
        "{n} of {total:output} never {n:?moves|move} on this data ({n:?output|outputs} {outputs}): "
        "the verdict rests on the other {rest:?one|{rest}}.",
    )
    UNEVEN_OUTPUTS = (
        Kind.WARNING,
        "the outputs' sensitivities differ by a factor of {factor:.0f}: the verdict rests on the "
        "largest. Scale the outputs, or analyse them one by one.",
    )
    SATURATED = (
        Kind.WARNING,
        "the sensitivity rests on {n} of {total:sample}; at the others almost nothing moves the "
        "output (a saturated softmax or sigmoid?). Analyse the logits, or samples near the places "
        "where the output changes.",
    )
    ZERO_DERIVATIVES = (
        Kind.WARNING,
        "the derivative is exactly zero at {n} of {total:sample} (dead units, or rounding): the "
        "verdict rests on the other {rest:?one|{rest}}.",
    )
    MOTIONS_DISAGREE = (
        Kind.WARNING,
        "along '{motion}' the derivative promises a squared change of the output of "
        "{derivative:.2g}, but moving {n:sample} for real by up to one pixel, in both directions, "
        "changes it by {real:.2g}: there is detail as fine as a pixel, and the defects "
        "depend on how they are differentiated. Take rows from moved images "
        "(run=liegg.Run(route='moved')), verify the result (held_out=), or smooth the images (liegg.actions.smooth).",
    )
    INNER_POINT = (
        Kind.NOTE,
        "the samples are what the layer {layer} returned for the data, {shape} each; the part of the model behind it was analysed",
    )
    OUTPUT_SAME_MATRICES = (
        Kind.NOTE,
        "on the output they act as {name}, each by the same matrix as on the input",
    )
    OUTPUT_ALGEBRA = (Kind.NOTE, "on the output they act as {name}")
    OUTPUT_STAYS = (Kind.NOTE, "on the output they do nothing: it stays the same")
    RANDOM_COMBINATIONS = (
        Kind.NOTE,
        "{combinations:random combination} {combinations:?stands|stand} for {outputs:output} of each sample: with few "
        "samples the smallest defects come out "
        "too small, as their intervals show. outputs='each' has no such bias",
    )
    LAST_CHECKPOINT_FAILED = (
        Kind.NOTE,
        "the last checkpoint could not be written; the result is complete: {error}",
    )

    # discovery/layers
    LAYER_LEFT_OUT = (Kind.NOTE, "left out: {reason}")
    LAYER_ZERO_OUTPUTS = (
        Kind.NOTE,
        "{n} of {total:sample} {n:?has|have} an output of exactly 0, which has no unit length",
    )
    LAYER_ANALYSED_ALONE = (
        Kind.NOTE,
        "forward derivatives do not reach this layer ({reason}): it was analysed separately",
    )
    LAYER_COMBINATIONS = (
        Kind.NOTE,
        "its {n:output} {n:?was|were} read by {combinations:random combination}",
    )
    LAYERS_ALL_BORDER = (
        Kind.NOTE,
        "every pixel of {layers} sees the border, so padding cannot be separated from other causes there",
    )
    SAMPLES_REPEATED = (
        Kind.NOTE,
        "torch.func.vmap cannot batch this model ({reason}): every sample was repeated for each "
        "direction instead",
    )

    # results/: the finding in plain words
    UNCHANGED = (
        Kind.VERDICT,
        "{subject:Capital} does not change under {motions} ({algebra}{lower_bound:?at least |}{nullity:direction}, {certainty}).",
    )
    NEARLY_UNCHANGED = (
        Kind.VERDICT,
        "{subject:Capital} {change} under {motions}, by at most {percent} % of what an average motion does "
        "({algebra}{lower_bound:?at least |}{nullity:direction}, {certainty}).",
    )
    NEARLY_UNCHANGED_WHEN_MOVED = (
        Kind.VERDICT,
        "{subject:Capital} {change} under {motions}, by at most {percent} % of its spread when held-out samples move by "
        "{motion:.2g} of theirs ({algebra}{lower_bound:?at least |}{nullity:direction}, {certainty}).",
    )
    FOLLOWS = (
        Kind.VERDICT,
        "{subject:Capital} moves along with its input under {motions} ({algebra}{lower_bound:?at least |}{nullity:direction}, "
        "{certainty}).",
    )
    NEARLY_FOLLOWS = (
        Kind.VERDICT,
        "{subject:Capital} moves along with its input under {motions}, up to {percent} % of what it moves under an average "
        "motion ({algebra}{lower_bound:?at least |}{nullity:direction}, {certainty}).",
    )
    NEARLY_FOLLOWS_WHEN_MOVED = (
        Kind.VERDICT,
        "{subject:Capital} moves along with its input under {motions}, up to {percent} % of its spread when held-out samples "
        "move by {motion:.2g} of theirs ({algebra}{lower_bound:?at least |}{nullity:direction}, {certainty}).",
    )
    DATA_UNCHANGED = (
        Kind.VERDICT,
        "Nothing in {samples:sample} speaks against {motions} ({algebra}{nullity:direction}, {certainty}); a change above {percent} % "
        "of what an average motion makes would have been seen.",
    )
    DATA_ALWAYS_CHANGED = (
        Kind.VERDICT,
        "No motion leaves {subject} unchanged; {nearest} changes it by {percent} % of what an average motion does, more than chance "
        "explains.",
    )
    DATA_DOUBTED_FOR = (
        Kind.VERDICT,
        "Undecided whether the distribution of the data has a symmetry: the first test functions see hardly any change of "
        "{samples:sample} along {undecided} of {total:direction}, but something else speaks against {undecided:?it|them} (see the "
        "warnings).",
    )
    DATA_UNDECIDED_FOR = (
        Kind.VERDICT,
        "Undecided whether the distribution of the data has a symmetry: chance explains what {samples:sample} {samples:?shows|show} "
        "along {undecided} of {total:direction}, but does not exclude a large effect.",
    )
    ALWAYS_CHANGED = (
        Kind.VERDICT,
        "No motion leaves {subject} nearly unchanged; {nearest} changes it by {percent} % of what an average motion does.",
    )
    NEVER_FOLLOWS = (
        Kind.VERDICT,
        "No motion of the input moves {subject} along with it; {nearest} misses that by {percent} % of what an average "
        "motion does.",
    )
    WEAKLY_CHANGED = (
        Kind.VERDICT,
        "No motion leaves {subject} nearly unchanged, but {weak:direction}{algebra} {weak:?changes|change} it by at "
        "most {percent} % of what an average motion does: too much for a symmetry, and clearly less than the rest.",
    )
    WEAKLY_FOLLOWED = (
        Kind.VERDICT,
        "No motion of the input moves {subject} along with it, but {weak:direction}{algebra} {weak:?misses|miss} that by "
        "at most {percent} % of what an average motion does: too much for a symmetry, and clearly less than the rest.",
    )
    UNCLEAR_COUNT = (
        Kind.VERDICT,
        "It is not clear how many symmetries {model} has: along {below:direction} the output moves little ({percent} % of what it "
        "does along an average one, or more), but nothing separates {below:?it|them} from the rest.",
    )
    UNDECIDED_FOR = (
        Kind.VERDICT,
        "Undecided whether {model} has a symmetry: the data does not decide {undecided} of {total:direction}.",
    )
    NOTHING_MOVES_FOR = (
        Kind.VERDICT,
        "Undecided whether {model} has a symmetry: no candidate motion moves the data.",
    )
    CHANGED_WHEN_MOVED = (
        Kind.VERDICT,
        "{model} has no symmetry: {count:direction} {count:?looks|look} like {count:?one|symmetries} by derivatives, but moving "
        "held-out samples by {motion:.2g} of the data's spread changes the output by up to {percent} % of its own.",
    )
    SURE = (Kind.REASON, "sure")
    NAME_NOT_SURE = (Kind.REASON, "the name is not sure")
    COUNT_BETWEEN = (Kind.REASON, "{low} to {high} are possible")
    COUNT_WITHOUT_INTERVAL = (Kind.REASON, "without an interval")
    MORE_UNDECIDED = (Kind.REASON, "{count} more undecided")
    MAY_BE_VIOLATED = (Kind.REASON, "up to {percent} % of such data may violate it")
    NEAR_A_THRESHOLD = (Kind.REASON, "near a threshold")
    SEE_WARNINGS = (Kind.REASON, "see the {count:?warning|warnings}")

    # results/layers: where in the network a symmetry is
    LAYERS_WITHOUT_SYMMETRY = (
        Kind.VERDICT,
        "No layer of {model} has a symmetry among these candidates: even {layer}, the nearest, moves its output by {percent} % of "
        "what an average direction does",
    )
    LAYERS_UNDECIDED = (
        Kind.VERDICT,
        "{count} of {total:layer} {count:?is|are} undecided: there are too few samples, or nothing moves the data",
    )
    LAYERS_ARISE = (
        Kind.VERDICT,
        "{model} becomes invariant in {layer}, number {place} of {total}: {count:symmetry}{name}",
    )
    LAYERS_FROM_START = (
        Kind.VERDICT,
        "{model} is invariant from its first layer on, {layer}: {count:symmetry}{name}",
    )
    LAYERS_KEEP = (Kind.VERDICT, "every later layer keeps {count:?it|them}")
    LAYER_IS_LAST = (Kind.VERDICT, "no layer follows")
    LAYER_GAINS = (Kind.VERDICT, "{layer} adds {more:symmetry}, {count} in all")
    LAYER_LOSES = (Kind.VERDICT, "{layer} loses {lost} of {before:symmetry}")
    LAYERS_EQUIVARIANT = (
        Kind.VERDICT,
        "Every layer that was tested is equivariant: {count:direction}{name}",
    )
    LAYERS_EQUIVARIANT_UNTIL = (
        Kind.VERDICT,
        "The layers are equivariant up to {last} ({count:direction}{name}); {layer} is the first that loses {lost} of them",
    )
    LAYERS_EQUIVARIANT_LATER = (
        Kind.VERDICT,
        "{layer} is the first equivariant layer: {count:direction}{name}",
    )
    LAYERS_NOT_EQUIVARIANT = (Kind.VERDICT, "No layer that was tested is equivariant")
    LAYERS_ALONG = (
        Kind.VERDICT,
        "{name} moves the output of {first} by {start} % of what an average direction does, and that of {last}, the last, by {end} %",
    )
    LAYERS_ALONG_ONE = (
        Kind.VERDICT,
        "{name} moves the output of {layer} by {percent} % of what an average direction does",
    )
    LAYER_WEAKENS = (Kind.VERDICT, "the share falls most from {before} to {after} %, in {layer}")
    LAYER_STRENGTHENS = (
        Kind.VERDICT,
        "the share rises most from {before} to {after} %, in {layer}",
    )
    LAYERS_DO_NOT_MOVE = (Kind.VERDICT, "{name} does not move the data")

    # discovery/compare_layers
    LAYERS_SAME_COUNTS = (
        Kind.REASON,
        "All {total:layer} that both networks have are symmetric alike: at most {most:symmetry}",
    )
    LAYERS_SAME_NONE = (Kind.REASON, "No layer of either network has a symmetry")
    LAYERS_DIFFER = (
        Kind.REASON,
        "{count} of {total:layer} that both networks have {count:?differs|differ} in their symmetries, first {layer}: "
        "{a} in {first}, {b} in {second}",
    )
    LAYERS_ALONG_CLEARER = (
        Kind.REASON,
        "to {name}, {model} is clearly less sensitive in {count} of {total:layer}",
    )
    LAYERS_ALONG_ALIKE = (
        Kind.REASON,
        "to {name}, no layer is clearly less sensitive in one network",
    )
    LAYERS_ALONG_END = (
        Kind.REASON,
        "{name} moves the output of {layer}, the last, by {a} % in {first} and {b} % in {second} of what an average direction does, "
        "{clearly}",
    )
    LAYERS_ONLY_IN_ONE = (Kind.NOTE, "only {model} has {names}")
    LAYER_KIND_DIFFERS = (Kind.NOTE, "{layer} is a {a} in {first} and a {b} in {second}")

    # results/: why generators were not named
    NO_MATRICES = (Kind.REASON, "the generators are vector fields and have no matrices to identify")
    MORE_THAN_SOLVED = (
        Kind.REASON,
        "there may be more symmetries than were solved for; a larger bottom= would show them",
    )

    NAMING_FAILED = (Kind.REASON, "the linear algebra behind the name did not converge: {error}")
    NAME_DOES_NOT_HOLD = (
        Kind.REASON,
        "the generators of {name} themselves have defects up to {defect:.2g}, more than the {limit:.2g} that their grade allows",
    )
    NAME_REFUTED = (
        Kind.REASON,
        "finite motions along the exact directions change the output (see the warning)",
    )
    UP_TO_STILL = (
        Kind.REASON,
        "known only up to {count:direction} that {count:?does|do} not move this data: it lies in a subspace, which the "
        "symmetries leave",
    )
    SAME_ON_THIS_DATA = (
        Kind.REASON,
        "the data cannot tell it from {name}: they differ by {count:direction} that {count:?does|do} not move this data",
    )

    # algebra: identification of a span
    DEPENDENT_GENERATORS = (
        Kind.NOTE,
        "{given} generators were given, {dependent} of them dependent on the others: "
        "their span has dimension {dimension}",
    )
    NEARLY_DEPENDENT = (
        Kind.NOTE,
        "the generators are nearly dependent: an orthonormal one is off by up to {factor:.2g} times the stated uncertainty",
    )
    TOO_LARGE_TO_IDENTIFY = (
        Kind.REASON,
        "{count:?1 matrix|{count} matrices} of {side} × {side} {count:?is|are} too large to be identified",
    )
    TOO_MANY_TO_NAME = (
        Kind.REASON,
        "it belongs to no known family, and {count} generators are too many for a name by structure constants (at most {most})",
    )
    CLOSED_BY_DIMENSION = (Kind.REASON, "closed under the bracket, as every span of its dimension")
    CLOSED = (Kind.REASON, "closed under the bracket to {rms:.0e}")
    CLOSED_WITHIN_NOISE = (
        Kind.REASON,
        "brackets leave the span by {rms:.2g}, as they do when generators are off by {degrees:.2g}°",
    )
    NOT_CLOSED = (
        Kind.REASON,
        "not closed under the bracket: brackets leave the span by {rms:.2g}, which no small error "
        "explains; generators and brackets span {generated:dimension}",
    )
    NOT_CLOSED_WITHIN_NOISE = (
        Kind.REASON,
        "not closed under the bracket: brackets leave the span by {rms:.2g}, which only generators "
        "off by {degrees:.2g}° would explain; generators and brackets span {generated:dimension}",
    )
    PRESERVES = (Kind.REASON, "preserves {what}")
    COMMUTANT = (Kind.REASON, "besides scalings, {maps:map} {maps:?commutes|commute} with it")
    FITS_EXACTLY = (Kind.REASON, "in suitable coordinates the span is {name}, to {angle:.0e}")
    FITS_WITHIN_NOISE = (
        Kind.REASON,
        "within {degrees:.2g}° of {name}, which an uncertainty of {needs:.2g}° explains; "
        "{allowed:.2g}° was allowed",
    )
    RIVAL_NEEDS_ERROR = (
        Kind.REASON,
        "{degrees:.2g}° away, which would take an uncertainty of {needs:.2g}°",
    )
    RIVAL_NEEDS_MORE_NOISE = (
        Kind.REASON,
        "{degrees:.2g}° away, which would take an uncertainty of {needs:.2g}°, "
        "{factor:.2g} times as much",
    )
    RIVAL_FITS = (Kind.REASON, "{degrees:.2g}° away, which the uncertainty explains")
    RIVAL_OF_LARGER_FAMILY = (
        Kind.REASON,
        "{degrees:.2g}° away, which the uncertainty explains as well, but of a larger family "
        "({parameters:parameter}, {simpler} has {fewer}): the simpler one is named",
    )
    NEAR_SIMPLER_ALGEBRA = (
        Kind.REASON,
        "it is near {name}: state the uncertainty, for example uncertainty={uncertainty:g}, "
        "to let that explain the rest",
    )
    HIDDEN_BY_NOISE = (
        Kind.REASON,
        "an uncertainty of {degrees:.2g}° hides which of several algebras it is",
    )
    SIMPLER_WITHIN_NOISE = (
        Kind.REASON,
        "an error of {needs:.2g}° can turn a simpler algebra{others} into it, and errors up to "
        "{possible:.2g}° are possible: an uncertainty below {decides:.2g}° would decide",
    )
    NOT_RIGID = (
        Kind.REASON,
        "however small, an error can turn it into another algebra{others}, and errors up to "
        "{possible:.2g}° are possible: only exact matrices would decide",
    )
    OTHER_ACTION = (
        Kind.REASON,
        "however small, an error can make {algebra} act otherwise, as a scaling makes a rotation a "
        "spiral, and errors up to {possible:.2g}° are possible: only exact matrices would decide",
    )
    SMALL_CONSTANTS_DECIDE = (
        Kind.REASON,
        "with structure constants below {cut:.0e} it is {exact}, without them {cut_name}: errors "
        "up to {possible:.2g}° are possible, and only a smaller uncertainty would decide",
    )
    OTHER_NAME_IN_UNITS = (
        Kind.REASON,
        "entries as small as rounding decide: in units in which they are as large as others it is "
        "{name}",
    )
    ONE_PARAMETER_GROUP = (Kind.REASON, "any single matrix generates a one-parameter group")
    # algebra: names from structure constants
    JACOBI_VIOLATED = (
        Kind.REASON,
        "the constants violate the Jacobi identity by {violation:.1e} of their size, "
        "too much at tolerance {tolerance:g}",
    )
    DIMENSIONS = (Kind.REASON, "dimension {dimension}, rank {rank}, centre of dimension {centre}")
    ABELIAN = (Kind.REASON, "all brackets vanish: the algebra is abelian")
    SEMISIMPLE = (Kind.REASON, "there is no solvable ideal: the algebra is semisimple")
    REDUCTIVE = (Kind.REASON, "the radical is the centre: the algebra is reductive")
    NILPOTENT = (
        Kind.REASON,
        "the algebra is nilpotent; dimensions of the derived series {derived}, "
        "of the lower central series {lower}",
    )
    SOLVABLE = (
        Kind.REASON,
        "the algebra is solvable but not nilpotent; dimensions of the derived series {derived}, "
        "of the lower central series {lower}, of the nilradical {nilradical}",
    )
    NEITHER_SOLVABLE_NOR_REDUCTIVE = (
        Kind.REASON,
        "the algebra is neither solvable nor reductive; dimensions of the Levi factor {levi}, "
        "of the radical {radical}, of the nilradical {nilradical}",
    )
    SIMPLE_IDEAL = (
        Kind.REASON,
        "simple ideal of dimension {dimension}, type {dynkin}, "
        "Killing form of signature ({positive},{negative}): {name}",
    )
    COMPLEX_SIMPLE_IDEAL = (
        Kind.REASON,
        "simple ideal of dimension {dimension}, type {dynkin} over the complex numbers, "
        "Killing form of signature ({positive},{negative}): {name}",
    )
    ABELIAN_SUMMAND = (
        Kind.REASON,
        "an abelian summand of dimension {dimension}, in the centre and outside all brackets",
    )
    HEISENBERG = (Kind.REASON, "all brackets lie in the centre, which is one-dimensional: {name}")
    FILIFORM = (
        Kind.REASON,
        "in dimension four, the only algebra with a lower central series of dimensions 4, 2, 1, 0: "
        "{name}",
    )
    TRIANGULAR = (
        Kind.REASON,
        "its lower central series has dimensions 6, 3, 1, 0, and the form [u, [b, v]], with b the "
        "direction that commutes with all brackets, has signature (1,1): {name}",
    )
    ACTS_ON_PLANE = (Kind.REASON, "one element acts on the plane of brackets as {action}: {name}")
    ACTS_ON_TRANSLATIONS = (
        Kind.REASON,
        "an abelian ideal of dimension {dimension}, on which the rest acts {action}: {name}",
    )
    LEVI_AND_RADICAL = (
        Kind.REASON,
        "Levi factor {levi} with the radical {radical}; how one acts on the other is not decided",
    )
    ELEMENT_AND_NILRADICAL = (
        Kind.REASON,
        "one element that acts on the nilradical {nilradical}; how it acts is not decided",
    )
    NOT_IN_LISTS = (
        Kind.REASON,
        "a summand of dimension {dimension}, with a derived series of dimensions {derived} and a "
        "lower central series of dimensions {lower}, is not in the lists",
    )

    # algebra/finite: why matrices do not close
    GROUP_UNBOUNDED = (
        Kind.REASON,
        "the matrices preserve no positive form, so that their products grow without bound: "
        "they generate an infinite group, or they are inaccurate",
    )
    GROUP_INACCURATE = (
        Kind.REASON,
        "some products are neither clearly equal nor clearly different at an error of {distance:.2g}: "
        "the elements generate an infinite group, or they are inaccurate",
    )
    GROUP_BEYOND_LIMIT = (
        Kind.REASON,
        "the products are more than {limit}: the elements generate an infinite or a larger group, "
        "or they are inaccurate",
    )
    GROUP_BY_CHANCE = (
        Kind.REASON,
        "an element of order {order} fits to {error:.2g}°, which an arbitrary angle would do as well: "
        "the elements generate an infinite group, or they are inaccurate",
    )
    GROUP_LEAVES_ALGEBRA = (
        Kind.REASON,
        "element {element} takes the algebra out of itself by {degrees:.2g}°: the algebra is not complete, "
        "or the element is inaccurate",
    )

    def __call__(self, **values: Any) -> "Remark":
        """State this diagnosis with its values.

        Args:
            **values: what the template names: numbers, strings, or lists of them.
        """
        return Remark(self, values)

    @property
    def kind(self) -> Kind:
        """Reason, warning or note."""
        return self.value[0]

    @property
    def template(self) -> str:
        """The words, with the names of the values in braces."""
        return self.value[1]


class _Words(string.Formatter):
    """Fills templates in; counts nouns and chooses words by number."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if choice := CHOSEN_WORD.fullmatch(format_spec):
            return choice[1] if value == 1 else choice[2]
        if format_spec == "Capital":
            text = str(value)
            return text[:1].upper() + text[1:]
        if COUNTED_NOUN.fullmatch(format_spec):
            return plural(value, format_spec)
        return super().format_field(value, format_spec)


def plural(number: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "sample"), plural(2, "sample"), plural(3, "symmetry")
    ('1 sample', '2 samples', '3 symmetries')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


class Remark(str):
    """A sentence that knows which diagnosis it states, and with which values.

    It is a string, so that it can be printed and joined; what it means is read from the member, never from the words.

    >>> remark = Diagnosis.TEXT(text="two words")
    >>> remark, remark.diagnosis.name, remark.values
    ('two words', 'TEXT', {'text': 'two words'})
    """

    __slots__ = ("diagnosis", "values")
    diagnosis: Diagnosis
    values: dict[str, Any]

    def __new__(cls, diagnosis: Diagnosis, values: dict[str, Any]) -> "Remark":
        """Fill the template in."""
        remark = super().__new__(cls, _Words().format(diagnosis.template, **values))
        remark.diagnosis, remark.values = diagnosis, values
        return remark

    def __reduce__(self) -> tuple[type["Remark"], tuple[Diagnosis, dict[str, Any]]]:
        return type(self), (self.diagnosis, self.values)

    def to_dict(self) -> dict[str, Any]:
        """The member's name, its kind, its values and the words, as JSON values."""
        return {
            "diagnosis": self.diagnosis.name.lower(),
            "kind": self.diagnosis.kind.value,
            "values": self.values,
            "text": str(self),
        }


def as_remark(text: str) -> Remark:
    """The text as a remark; one without a member of its own becomes `Diagnosis.TEXT`.

    >>> as_remark("two words").diagnosis.name
    'TEXT'
    """
    return text if isinstance(text, Remark) else Diagnosis.TEXT(text=text)


def remark_from_dict(stored: dict[str, Any] | str) -> Remark:
    """Read what `Remark.to_dict` wrote; a member or values of another version stay as text.

    >>> remark_from_dict("as an older version wrote it").diagnosis.name
    'TEXT'
    """
    if isinstance(stored, str):
        return Diagnosis.TEXT(text=stored)
    try:
        return Diagnosis[str(stored["diagnosis"]).upper()](**stored["values"])
    except (KeyError, IndexError, ValueError, TypeError):
        return Diagnosis.TEXT(text=str(stored["text"]))


def stored_remark(remark: str) -> dict[str, Any]:
    """A remark as JSON values; a plain string becomes a `TEXT`."""
    return as_remark(remark).to_dict()
