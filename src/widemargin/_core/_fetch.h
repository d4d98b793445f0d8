/* Memory that will be read next, asked for ahead of time: a piece with each row that is worked on meanwhile. */
#ifndef WIDEMARGIN_FETCH_H
#define WIDEMARGIN_FETCH_H

#include <stddef.h>

#define LINE 64 /* bytes of the cache that come together */

#ifdef __GNUC__
#define FETCH(at) __builtin_prefetch(at, 0, 2) /* into the second-level cache */
#else
#define FETCH(at)
#endif

typedef struct {
    const char *at; /* NULL: nothing */
    ptrdiff_t step; /* bytes for each row */
} Ahead;

static inline void fetch(Ahead ahead, ptrdiff_t row)
{
    if (ahead.at)
        for (ptrdiff_t k = row * ahead.step / LINE; k < (row + 1) * ahead.step / LINE; k++)
            FETCH(ahead.at + k * LINE);
}

#endif
