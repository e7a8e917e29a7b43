#include "../System.h"

#include <stdlib.h>
#include <sys/mman.h>

void *kiln::allocateAligned(size_t bytes, size_t alignment) {
  void *memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void kiln::freeAligned(void *memory) { free(memory); }

void *kiln::mapPages(size_t bytes) {
  size_t mapped = bytes + hugePage;
  void *raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  char *begin = static_cast<char *>(raw);
  char *aligned = begin + (hugePage - uintptr_t(begin) % hugePage) % hugePage;
  if (aligned != begin)
    munmap(begin, size_t(aligned - begin));
  munmap(aligned + bytes, mapped - bytes - size_t(aligned - begin));
#ifdef MADV_HUGEPAGE
  // Only whole huge pages: the last, partial one would take memory that the workspace does not need.
  madvise(aligned, bytes / hugePage * hugePage, MADV_HUGEPAGE);
#endif
  return aligned;
}

void kiln::unmapPages(void *pages, size_t bytes) { munmap(pages, bytes); }

bool kiln::populatePages(void *pages, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  return madvise(pages, bytes, MADV_POPULATE_WRITE) == 0;
#else
  (void)pages, (void)bytes;
  return false;
#endif
}
