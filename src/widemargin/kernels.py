"""Kernel objects to pass as `kernel=`; `+` and `*` combine them.

>>> from widemargin.kernels import RBF, Linear
>>> RBF(gamma=0.5) + Linear()
Sum(left=RBF(gamma=0.5), right=Linear())
"""

from ._core.kernels import RBF, Function, Kernel, Linear, Polynomial, Product, Sigmoid, Sum

__all__ = ["RBF", "Function", "Kernel", "Linear", "Polynomial", "Product", "Sigmoid", "Sum"]
