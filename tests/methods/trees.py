"""Rooted trees and the order conditions that they stand for (Hairer, Nørsett, Wanner I, II.2)."""

from functools import cache
from math import prod

import numpy as np

# A tree is the sorted tuple of the trees that hang from its root.
LEAF = ()


def size(tree):
    return 1 + sum(map(size, tree))


def density(tree):
    """γ: the product of the sizes of all subtrees."""
    return size(tree) * prod(map(density, tree))


@cache
def forests(vertices, largest):
    """Sorted tuples of trees with so many vertices together, none of which comes after `largest`."""
    if vertices == 0:
        return ((),)
    found = []
    for first in (tree for n in range(1, vertices + 1) for tree in trees(n)):
        if largest is None or (size(first), first) <= (size(largest), largest):
            found += [(first, *rest) for rest in forests(vertices - size(first), first)]
    return tuple(found)


@cache
def trees(vertices):
    """All rooted trees with so many vertices."""
    return forests(vertices - 1, None)


def stage_weights(tree, a):
    """φ_i: what stage i has of the elementary differential of the tree."""
    result = np.ones(len(a))
    for branch in tree:
        result = result * (a @ stage_weights(branch, a))
    return result
