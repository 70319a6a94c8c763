"""Vectors, 3x3 matrices, rotations, poses and small dense solves: pure kernels on tuples of scalars.

Use the modules by name: `from poinsot.algebra import so3`, then `so3.exp(u)`. Every kernel serves float64, Pack
and Dual from one source, so none branches on a value of the state.
"""
