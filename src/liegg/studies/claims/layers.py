"""Claims of section 5.4: symmetries layer by layer, under different ways of training."""

from liegg.studies.claims.record import Claim

CLAIMS = (
    Claim(
        "layers-agree-at-the-end",
        "In the last two layers variance and bias come close to each other, however the network was trained.",
        "5.4", "layerwise", "approximately the same", None,
    ),
    Claim(
        "layers-sub-network",
        "Trained by itself, a sub-network learns a more accurate symmetry and is more invariant than as part of the deep network.",
        "5.4", "layerwise", "smaller bias and variance", None,
    ),
    Claim(
        "layers-training",
        "Fine-tuning and layer-wise training give intermediate layers a smaller bias and variance than plain training.",
        "5.4", "layerwise", "smaller bias and variance", None,
    ),
)  # fmt: skip
"""In the paper's order."""
