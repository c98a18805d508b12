"""How many samples a verification evaluates."""

from liegg.discovery.verification.follow import CurveOptions
from liegg.discovery.verification.measure import Question
from liegg.discovery.verification.selected_times import (
    PROFILE_EVALUATIONS,
    at_selected_times,
    shares,
)

START = 2 * 9
"""Motions that measure a curvature, at most."""


def expected_evaluations(
    question: Question, generators: int, others: int, options: CurveOptions
) -> int:
    """Most samples that the model evaluates: all motions both ways, and no curve that fails early.

    Args:
        question: the model and its samples.
        generators: number of generators.
        others: number of further motions.
        options: how curves are measured.
    """
    points, controls, samples = options.points, options.controls, len(question.x)
    curves, group = generators + others, generators > 1
    again = 1 if question.resamples else 0  # there and back
    if not at_selected_times(question, options.effort):
        each = START + 2 * points * (1 + controls + again)
        return samples * (curves * each + group * points * controls * (2 + again))
    share = -(-samples // shares(samples))
    each = START + (2 + again) * points
    elements = group * points * (3 + again)  # every sample is moved by two elements, at most three
    return samples * (curves * each + elements) + share * controls * PROFILE_EVALUATIONS
