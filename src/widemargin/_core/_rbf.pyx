# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Values of an RBF kernel over few features, in one pass: the twin is `kernels.RBF`, whose way they go over many."""

from libc.stdlib cimport free, malloc

cdef extern from "_rbf.h":
    enum:
        ROWS
        PACK_BYTES
    void rbf_wide(const double* X, Py_ssize_t m, Py_ssize_t d, Py_ssize_t stride, const double* origin,
                  const double* right, Py_ssize_t n, double* out, double* left, int most) noexcept nogil
    void rbf_narrow(const float* X, Py_ssize_t m, Py_ssize_t d, Py_ssize_t stride, const float* origin,
                    const float* right, Py_ssize_t n, float* out, float* left, int most) noexcept nogil

ctypedef fused real:
    float
    double

PACK = PACK_BYTES  # of columns of `right` that lie together


def values(const real[:, :] X, const real[::1] origin, const real[:, :, ::1] right, real[:, ::1] out,
           int most=64):
    """Write exp(min(0, [x, |x|^2, 1] . right)), x a row of X less the origin, whose entries follow each other.

    Columns of `right` are packed: (packs, entries, columns of a pack), the last ones beyond those of `out`.
    Vectors have `most` bytes, or fewer where the processor's are shorter.
    """
    cdef Py_ssize_t m = X.shape[0], d = X.shape[1], n = out.shape[1], stride = X.strides[0] // sizeof(real)
    cdef real* left = <real*> malloc(ROWS * (d + 2) * sizeof(real))
    if left == NULL:
        raise MemoryError
    if m > 0 and n > 0:
        with nogil:
            if real is float:
                rbf_narrow(&X[0, 0], m, d, stride, &origin[0], &right[0, 0, 0], n, &out[0, 0], left, most)
            else:
                rbf_wide(&X[0, 0], m, d, stride, &origin[0], &right[0, 0, 0], n, &out[0, 0], left, most)
    free(left)
