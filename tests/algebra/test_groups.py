"""One axiom suite for all groups: what every group, its exponential and its tangents must satisfy."""

from math import pi

import numpy as np
import pytest
from algebra.groups import GROUPS, bounded, flat
from hypothesis import given
from hypothesis import strategies as st

every_group = pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
TIGHT = 3e-14


def draw(data, group, count, largest=4.0):
    return [data.draw(group.elements(largest)) for _ in range(count)]


def size(*elements):
    return 1.0 + max(float(np.linalg.norm(flat(x))) for x in elements) ** 2


@every_group
@bounded
@given(data=st.data())
def test_product_is_associative_with_identity_and_inverse(group, data):
    f, g, h = (group.exp(u) for u in draw(data, group, 3))
    scale = size(f, g, h)
    left, right = group.compose(group.compose(f, g), h), group.compose(f, group.compose(g, h))
    assert group.difference(left, right) <= TIGHT * scale
    assert group.difference(group.compose(g, group.identity), g) == 0.0
    assert group.difference(group.compose(g, group.inverse(g)), group.identity) <= TIGHT * scale
    assert group.difference(group.compose(group.inverse(g), g), group.identity) <= TIGHT * scale


@every_group
@bounded
@given(data=st.data())
def test_log_undoes_exp(group, data):
    (u,) = draw(data, group, 1, pi - 1e-8)
    error = np.linalg.norm(group.log(group.exp(u)) - u)
    assert error <= TIGHT * np.linalg.norm(u) * (1.0 if group.one_parameter else size(u))


@every_group
@bounded
@given(data=st.data())
def test_exp_undoes_log(group, data):
    f, g = (group.exp(u) for u in draw(data, group, 2))
    if not group.one_parameter:  # the product of two may be a half turn, where Cayley has no logarithm
        g = group.identity
    h = group.compose(f, g)
    assert group.difference(group.exp(group.log(h)), h) <= TIGHT * size(f, g)


@every_group
@bounded
@given(data=st.data(), s=st.floats(-1.0, 1.0), t=st.floats(-1.0, 1.0))
def test_multiples_of_one_element_commute_and_add(group, data, s, t):
    (u,) = draw(data, group, 1)
    if not group.one_parameter:
        s, t = 1.0, -1.0
    product = group.compose(group.exp(s * u), group.exp(t * u))
    assert group.difference(group.exp((s + t) * u), product) <= TIGHT * size(u)


@every_group
@bounded
@given(data=st.data())
def test_adjoint_is_conjugation_and_a_representation(group, data):
    u, v, w = draw(data, group, 3)
    g, h = group.exp(v), group.exp(w)
    scale = size(g, h) * size(u)
    conjugate = group.compose(group.compose(g, group.exp(u)), group.inverse(g))
    assert group.difference(group.exp(group.adjoint(g, u)), conjugate) <= TIGHT * scale
    twice = group.adjoint(g, group.adjoint(h, u))
    assert np.max(np.abs(group.adjoint(group.compose(g, h), u) - twice)) <= TIGHT * scale
    along = group.bracket(group.adjoint(g, u), group.adjoint(g, w))
    assert np.max(np.abs(group.adjoint(g, group.bracket(u, w)) - along)) <= TIGHT * scale * size(w)


@every_group
@bounded
@given(data=st.data())
def test_dexp_inv_undoes_dexp(group, data):
    (u,) = draw(data, group, 1, 4.0)
    (w,) = draw(data, group, 1, 3.0)
    scale = size(u) * np.linalg.norm(w)
    assert np.linalg.norm(group.dexp_inv(u, group.dexp(u, w)) - w) <= TIGHT * scale
    assert np.linalg.norm(group.dexp(u, group.dexp_inv(u, w)) - w) <= TIGHT * scale


@every_group
@bounded
@given(data=st.data())
def test_left_trivialised_tangent_is_that_of_minus_u(group, data):
    u, w = draw(data, group, 2)
    seen_from_body = group.adjoint(group.inverse(group.exp(u)), group.dexp(u, w))
    assert np.linalg.norm(seen_from_body - group.dexp(-u, w)) <= TIGHT * size(u) * (1.0 + np.linalg.norm(w))


@every_group
@bounded
@given(data=st.data())
def test_first_bracket_of_the_product_has_the_sign_of_baker_campbell_hausdorff(group, data):
    u, v = draw(data, group, 2, 1.0)
    u, v = 1e-3 * u, 1e-3 * v
    product = group.log(group.compose(group.exp(u), group.exp(v)))
    assert np.linalg.norm(product - (u + v + 0.5 * group.bracket(u, v))) <= 4e-6 * (
        np.linalg.norm(u) + np.linalg.norm(v)
    )


@every_group
def test_first_bracket_is_not_lost_in_the_tolerance(group):
    u = 1e-3 * np.array([2.0, 1.0, 0.0, 1.0, 0.0, 3.0])[: len(group.log(group.identity))]
    v = np.roll(u, 1)
    assert np.linalg.norm(group.bracket(u, v)) > 1e-6
    product = group.log(group.compose(group.exp(u), group.exp(v)))
    assert np.linalg.norm(product - (u + v + 0.5 * group.bracket(u, v))) < 0.01 * np.linalg.norm(group.bracket(u, v))
    tangent = group.dexp(u, v)
    assert np.linalg.norm(tangent - (v + 0.5 * group.bracket(u, v))) < 0.01 * np.linalg.norm(group.bracket(u, v))
