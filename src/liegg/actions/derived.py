"""Matrices that belong to another action: of restrictions, of leaves in a tree, of maps of a grid."""

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor

from liegg.actions.base import MatrixAction
from liegg.actions.generators import check_inside


class DerivedMatrices(MatrixAction):
    """An action with the matrices of another one, or of a subspace of its candidates."""

    @property
    @abstractmethod
    def source(self) -> MatrixAction:
        """The action that the matrices belong to."""

    @property
    def ambient(self) -> int:
        """Side of its matrices."""
        return self.source.ambient

    @property
    def homogeneous(self) -> bool:
        """Whether its maps are affine."""
        return self.source.homogeneous

    @property
    def axes(self) -> tuple[str, ...] | None:
        """Names of its coordinates."""
        return self.source.axes

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Its matrices."""
        return self.source.matrices(self.whole_coefficients(coefficients))

    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Coefficients of its matrices; raise `ArgumentError` for a matrix outside the subspace."""
        whole = self.source.coefficients(matrices)
        own = self.own_coefficients(whole)
        outside = (self.whole_coefficients(own) - whole).norm(dim=1)
        check_inside(outside, whole.norm(dim=1), self)
        return own
