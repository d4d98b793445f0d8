/* Memory for one large group: in huge pages, where the system has them at hand. Random reads of small pages wait for
 * the address as long as for the value, and each is cleared by itself.
 */
#ifndef WIDEMARGIN_ROOM_H
#define WIDEMARGIN_ROOM_H

#include <stdlib.h>

#ifdef __linux__
#include <sys/mman.h>
#include <time.h>
#endif

#define HUGE_PAGE ((size_t)1 << 21)
#define ROOMY ((size_t)1 << 23) /* bytes from which it matters */
#define SLOW 4e-4               /* seconds for a first page, beyond which memory is in pieces */

static void *room(size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size >= ROOMY) {
        void *at;
        struct timespec begin, end;
        if (posix_memalign(&at, HUGE_PAGE, size))
            return NULL;
        madvise(at, size, MADV_HUGEPAGE);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        ((volatile char *)at)[0] = 0;
        clock_gettime(CLOCK_MONOTONIC, &end);
        if ((double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec) > SLOW)
            madvise(at, size, MADV_NOHUGEPAGE);
        return at;
    }
#endif
    return malloc(size);
}

#endif
