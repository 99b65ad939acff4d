# SPDX-License-Identifier: Apache-2.0
"""Kirsch: fast CPU kernels of tensor computations, made from a line of text.

    import kirsch, numpy
    matmul = kirsch.compile("matmul f32 64x128x32")
    out = matmul(numpy.ones((64, 128), "float32"), numpy.ones((128, 32), "float32"))

A kernel takes arrays of NumPy, and whatever has __dlpack__ and lies in this CPU's memory, without copying them, in the
order of its text; it returns a NumPy array, or writes `out=`. Of types that NumPy lacks (bf16, f8) results are the
unsigned integers with their bits, and inputs may be, or arrays of the package ml_dtypes. Of a family ("1..64x128x32")
the sizes follow from the shapes. Constants ("const-rhs") are packed once: `packed = kernel.pack(weights)`, then
`kernel(x, packed=packed)`.

Bad input is a ValueError or TypeError of one line; all else that goes wrong is a kirsch.Error with a `code` of kirsch.h.
Kernels may be called from several threads at once; Python's lock is not held meanwhile.
"""

from ._kirsch import Cost, Error, Kernel, Packed, Solution, version as __version__
from . import _kirsch

__all__ = ["Cost", "Error", "Kernel", "Packed", "Solution", "compile", "solve"]


def solve(text, target="host", threads=1, *, kernel="", table="", cold="", time_budget=0, allow_winograd=False,
          schedule=""):
    """Finds the program of a kernel for a CPU, which need not be this one: its cost, why, and C code.

    text: a shorthand ("matmul f32 64x64x64"), or kernels in the kernel language, of which `kernel` names one.
    threads: that the kernel is for. table: a file in which answers are kept. cold: operands that come from RAM.
    time_budget: seconds after which the search gives its best program so far; 0: none.
    allow_winograd: 3x3 convolutions may be computed less exactly. schedule: decisions that are given, a line each.
    """
    return _kirsch.solve(text, target, threads, kernel, table, cold, time_budget, allow_winograd, schedule)


def compile(text, target="host", threads=1, **options):
    """The same as code that can be called. `target` is one that this CPU can run; for `options` see solve."""
    return solve(text, target, threads, **options).compile()
