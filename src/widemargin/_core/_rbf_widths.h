/* The loop of `_rbf.h` for one precision, which ends here, and each width of vectors. */
#define BYTES 16
#define TARGET
#include "_rbf_loop.h"

#define BYTES 32
#define TARGET WIDE
#include "_rbf_loop.h"

#define BYTES 64
#define TARGET WIDEST
#include "_rbf_loop.h"

#undef PRECISION
#undef REAL
#undef WHOLE
