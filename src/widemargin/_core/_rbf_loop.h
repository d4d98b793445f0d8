/* The loop of `_rbf.h`, for one precision (REAL, WHOLE, and the numbers that begin with PRECISION) and one width of
 * vectors (BYTES) of processors that have it (TARGET).
 */
#define JOIN3(a, b, c) a##_##b##_##c
#define JOIN(a, b, c) JOIN3(a, b, c)
#define OF(what) JOIN(rbf, PRECISION, what)
#define HERE(what) JOIN(OF(what), vectors, BYTES)

typedef REAL HERE(vector) __attribute__((vector_size(BYTES)));
typedef REAL HERE(loose) __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));
typedef WHOLE HERE(bits) __attribute__((vector_size(BYTES)));

/* exp(x) for x <= 0: 2^n exp(r) with |r| <= log(2) / 2, by the first terms of its series. */
TARGET INLINE HERE(vector) HERE(exponential)(HERE(vector) x)
{
    const HERE(vector) t = x * OF(log2e) + OF(rounder), n = t - OF(rounder);
    const HERE(vector) r = (x - n * OF(ln2)) - n * OF(ln2_rest);
    HERE(vector) y = r * OF(series)[0] + OF(series)[1];
    _Pragma("GCC unroll 16") for (int k = 2; k < OF(terms); k++) y = y * r + OF(series)[k];
    return (HERE(vector))(((HERE(bits))y + ((HERE(bits))t << OF(mantissa))) & ~(HERE(bits))(x < OF(least)));
}

TARGET static void HERE(values)(const REAL *X, ptrdiff_t m, ptrdiff_t d, ptrdiff_t stride, const REAL *origin,
                                const REAL *right, ptrdiff_t n, REAL *out, REAL *left)
{
    enum { LANES = BYTES / sizeof(REAL), PACK = PACK_BYTES / sizeof(REAL), STEP = 2 * LANES };
    for (ptrdiff_t i = 0; i < m; i += ROWS) {
        const ptrdiff_t rows = m - i < ROWS ? m - i : ROWS;
        OF(centre)(X + i * stride, rows, d, stride, origin, left);
        for (ptrdiff_t j = 0; j < n; j += STEP) {
            const REAL *z = right + j / PACK * PACK * (d + 2) + j % PACK;
            HERE(vector) s[ROWS][2] = {{{0}}};
            for (ptrdiff_t k = 0; k < d + 2; k++, z += PACK) {
                const HERE(vector) a = *(const HERE(loose) *)z, b = *(const HERE(loose) *)(z + LANES);
                _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++)
                {
                    s[r][0] += left[k * ROWS + r] * a;
                    s[r][1] += left[k * ROWS + r] * b;
                }
            }
            _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++) _Pragma("GCC unroll 2") for (int c = 0; c < 2; c++)
            {
                const HERE(vector) e = s[r][c]; /* above 0 by rounding alone */
                s[r][c] = HERE(exponential)((HERE(vector))((HERE(bits))e & ~(HERE(bits))(e > 0)));
            }
            if (rows == ROWS && j + STEP <= n)
                _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++)
                {
                    *(HERE(loose) *)(out + (i + r) * n + j) = s[r][0];
                    *(HERE(loose) *)(out + (i + r) * n + j + LANES) = s[r][1];
                }
            else
                for (ptrdiff_t r = 0; r < rows; r++)
                    memcpy(out + (i + r) * n + j, s[r], (size_t)(n - j < STEP ? n - j : STEP) * sizeof(REAL));
        }
    }
}

#undef HERE
#undef OF
#undef JOIN
#undef JOIN3
#undef BYTES
#undef TARGET
