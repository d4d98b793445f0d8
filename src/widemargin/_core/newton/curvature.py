"""Solving with I + C X'LX: a Cholesky factor for few features, conjugate gradients for many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from scipy import linalg

from ..comparisons import IntArray
from ..solution import Array

Product: TypeAlias = Callable[[Array], Array]


class Curvature(Protocol):
    """The Hessian of a goal at some point."""

    def solve(self, g: Array) -> Array:
        """Return (I + C X'LX)^-1 g, or near it."""

    def decrement(self, g: Array) -> float:
        """Return 1/2 g' (I + C X'LX)^-1 g, or near it: what a step along the solution promises to gain."""

    def scaled(self, share: float) -> Curvature | None:
        """Return the same with share * C in place of C, where that is cheap."""

    def learned(self, step: Array, change: Array) -> Curvature:
        """Return the same after a step that changed the gradient of the losses so, where that teaches anything."""


@dataclass(frozen=True)
class Factor:
    """Cholesky factor, made when it is asked for; scaled to unit diagonal: columns of X may differ by many decades."""

    gram: Array  # C X'LX

    @cached_property
    def parts(self) -> tuple[Array, Array]:
        """Return the scale and the factor of I + gram; a tiny ridge on the unit diagonal grows until it exists."""
        gram = self.gram
        diagonal = slice(None, None, gram.shape[0] + 1)
        scale = 1.0 / np.sqrt(1.0 + np.maximum(np.diag(gram), 0.0))
        H = gram * (scale[:, None] * scale)
        ridge = 1e-15
        while True:
            H.flat[diagonal] = 1.0 + ridge
            chol, info = linalg.lapack.dpotrf(H, lower=0, clean=0)
            if info == 0 or not ridge < 1.0:
                return scale, chol
            ridge *= 30.0

    def solve(self, g: Array) -> Array:
        """Return (I + gram)^-1 g."""
        scale, chol = self.parts
        x, _ = linalg.lapack.dpotrs(chol, scale * g, lower=0)
        return scale * x

    def decrement(self, g: Array) -> float:
        """Return 1/2 g' (I + gram)^-1 g."""
        return 0.5 * float(g @ self.solve(g))

    def scaled(self, share: float) -> Factor:
        """Return the factor of I + share * gram."""
        return Factor(share * self.gram)

    def learned(self, step: Array, change: Array) -> Factor:
        """Return the factor with a gram that maps the step to the change: BFGS, which keeps it convex."""
        before = self.gram @ step
        now, then = float(step @ change), float(step @ before)
        if not (now > 0.0 and then > 0.0):
            return self
        return Factor(self.gram + np.outer(change / now, change) - np.outer(before / then, before))


@dataclass(frozen=True)
class Corner:
    """I + C X'LX with its block over some columns, and its diagonal over the others: good enough to precondition."""

    columns: IntArray
    block: Factor
    diagonal: Array

    def solve(self, g: Array) -> Array:
        """Return this matrix's inverse times g."""
        x = g / self.diagonal
        x[self.columns] = self.block.solve(g[self.columns])
        return x


@dataclass(frozen=True)
class Iterative:
    """Conjugate gradients on the product. A diagonal alone does not precondition: it sees no constants."""

    product: Product  # v -> (I + C X'LX) v
    corner: Corner
    rtol: float = 0.25
    max_iter: int = 300

    def solve(self, g: Array) -> Array:
        """Return x whose residual is rtol times that of x = 0, in the norm of the preconditioner's inverse."""
        x, r = np.zeros_like(g), g.copy()
        z = self.corner.solve(r)
        d, rz = z, float(r @ z)
        enough = self.rtol**2 * rz
        for _ in range(self.max_iter):
            if not rz > enough:
                break
            Hd = self.product(d)
            step = rz / float(d @ Hd)
            x += step * d
            r -= step * Hd
            z = self.corner.solve(r)
            rz, before = float(r @ z), rz
            d = z + (rz / before) * d
        return x

    def decrement(self, g: Array) -> float:
        """Return what the preconditioner says: no product is spent on a guess."""
        return 0.5 * float(g @ self.corner.solve(g))

    def scaled(self, share: float) -> None:  # noqa: ARG002
        """Return None: a new product is as cheap."""
        return

    def learned(self, step: Array, change: Array) -> Iterative:  # noqa: ARG002
        """Return this."""
        return self
