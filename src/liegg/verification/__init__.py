"""Finite verification: do the symmetries found at infinitesimal size hold at finite size, on samples that were held out?"""

from liegg.verification.assembly import verify
from liegg.verification.record import Curvature, Curve, Verification

__all__ = ["Curvature", "Curve", "Verification", "verify"]
