/* Loops that are compiled several times: for any processor, and for wide registers where the one at hand has them. */
#ifndef WIDEMARGIN_WIDE_H
#define WIDEMARGIN_WIDE_H

#if defined(__GNUC__) && defined(__x86_64__)
#define INLINE static inline __attribute__((always_inline))
#define HAS_WIDE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define WIDE __attribute__((target("avx2,fma")))
#define HAS_WIDEST (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#define WIDEST __attribute__((target("avx512f,avx512dq,avx512vl")))
#else
#define INLINE static inline
#define HAS_WIDE 0
#define WIDE
#define HAS_WIDEST 0
#define WIDEST
#endif

/* Make `name` of the inline function `name_loop`: both copies, and the choice between them. */
#define COMPILED_TWICE(name, parameters, arguments) \
    WIDE static void name##_wide parameters \
    { \
        name##_loop arguments; \
    } \
    static void name parameters \
    { \
        if (HAS_WIDE) \
            name##_wide arguments; \
        else \
            name##_loop arguments; \
    }

/* The same with a copy for the widest registers: for loops that do little with what they read. */
#define COMPILED_THRICE(name, parameters, arguments) \
    WIDE static void name##_wide parameters \
    { \
        name##_loop arguments; \
    } \
    WIDEST static void name##_widest parameters \
    { \
        name##_loop arguments; \
    } \
    static void name parameters \
    { \
        if (HAS_WIDEST) \
            name##_widest arguments; \
        else if (HAS_WIDE) \
            name##_wide arguments; \
        else \
            name##_loop arguments; \
    }

#endif
