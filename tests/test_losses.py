"""Losses, found by discovery, and who may take them."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from widemargin._core import comparisons, losses
from widemargin._core.interior_point import interior_point
from widemargin._core.maps import LinearMap

FOUND = [value for value in vars(losses).values() if dataclasses.is_dataclass(value) and not isinstance(value, type)]


@pytest.mark.parametrize("loss", FOUND, ids=repr)
def test_slope_and_curvature_are_derivatives(loss):
    """Central differences away from the kink give the slope and the curvature."""
    t = np.array([-2.0, -0.3, 0.2, 1.0, 7.0])
    step = 1e-5
    assert_allclose(loss.slope(t), (loss.value(t + step) - loss.value(t - step)) / (2 * step), atol=1e-8)
    assert_allclose(loss.curvature(t), (loss.slope(t + step) - loss.slope(t - step)) / (2 * step), atol=1e-8)


@pytest.mark.parametrize("loss", FOUND, ids=repr)
def test_a_margin_of_exactly_one_costs_nothing(loss):
    """At a shortfall of zero value, slope and curvature are zero: the kink belongs to the satisfied side."""
    zero = np.zeros(1)
    assert (loss.value(zero)[0], loss.slope(zero)[0], loss.curvature(zero)[0]) == (0.0, 0.0, 0.0)


def test_the_interior_point_refuses_a_loss_it_cannot_solve():
    """A loss that is neither the hinge nor its square is not silently taken for one of them."""
    rows = comparisons.from_classes(np.array([1.0, -1.0]), np.ones(2))
    with pytest.raises(TypeError, match="solves the hinge and its square"):
        interior_point(rows, LinearMap(np.eye(2)), 1.0, "logistic", tol=1e-6, max_iter=10)
