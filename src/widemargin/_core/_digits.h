/* Running sums by level, of which those below a level are asked for: levels are octal numbers.
 *
 * Of their first digit there is one row of 8 sums, each over lower digits; of the second there is a row for each first
 * digit, and so on. A question adds up one number for each digit, where a tree of levels has one for each bit; what
 * is inserted is added to one row for each digit, and nothing branches.
 */
#ifndef WIDEMARGIN_DIGITS_H
#define WIDEMARGIN_DIGITS_H

#include <stddef.h>

#include "_wide.h"

typedef struct {
    double c;  /* sum of the weights */
    double cx; /* sum of weight times payload */
} Sums;

static inline int digits_of(ptrdiff_t levels) /* of any level, and of their number: all may be asked for */
{
    int digits = 1;
    while (levels >> 3 * digits)
        digits++;
    return digits;
}

static inline ptrdiff_t digits_size(ptrdiff_t levels) /* sums to make room for */
{
    ptrdiff_t size = ((levels >> 3) + 1) << 3; /* the rows of the last digit, as far as there are levels */
    for (int digit = 1; digit < digits_of(levels); digit++)
        size += (ptrdiff_t)1 << 3 * digit;
    return size;
}

static inline Sums digits_below(const Sums *sums, int digits, ptrdiff_t level)
{
    Sums found = {0.0, 0.0};
    for (ptrdiff_t left = digits - 1, size = 8; left >= 0; left--, size <<= 3) {
        const Sums *at = sums + (level >> 3 * left);
        found.c += at->c;
        found.cx += at->cx;
        sums += size;
    }
    return found;
}

#ifdef __GNUC__
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
static const double IS_ABOVE[32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

INLINE void add_above(Sums *row, ptrdiff_t digit, double c, double cx)
{
    const Four value = {c, cx, c, cx}, *mask = (const Four *)(IS_ABOVE + 14 - 2 * digit);
    for (int k = 0; k < 4; k++)
        ((Four *)row)[k] += mask[k] * value;
}
#else
INLINE void add_above(Sums *row, ptrdiff_t digit, double c, double cx)
{
    for (ptrdiff_t k = digit + 1; k < 8; k++) {
        row[k].c += c;
        row[k].cx += cx;
    }
}
#endif

INLINE void digits_insert_loop(Sums *sums, int digits, ptrdiff_t level, double c, double cx)
{
    for (ptrdiff_t left = digits - 1, size = 8; left >= 0; left--, size <<= 3) {
        const ptrdiff_t at = level >> 3 * left;
        add_above(sums + (at & ~(ptrdiff_t)7), at & 7, c, cx);
        sums += size;
    }
}

COMPILED_TWICE(digits_insert, (Sums *sums, int digits, ptrdiff_t level, double c, double cx),
               (sums, digits, level, c, cx))

#endif
