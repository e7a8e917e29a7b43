// Where huge pages begin in the address space.
#ifndef KILN_RUNTIME_POSIX_PAGES_H
#define KILN_RUNTIME_POSIX_PAGES_H

#include "../System.h"

namespace kiln {

// Addresses that nothing else uses, from a multiple of a huge page's size on; null where there are none. `bytes` is a multiple of a page's size, `protection`
// is mmap's.
void *reservePages(size_t bytes, int protection);

// Asks for huge pages. Only for whole ones: the last, partial one would take memory that nobody needs.
void wantHugePages(void *pages, size_t bytes);

} // namespace kiln

#endif // KILN_RUNTIME_POSIX_PAGES_H
