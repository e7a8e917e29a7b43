#include "Pages.h"

#include <stdlib.h>
#include <sys/mman.h>

void *kiln::allocateAligned(size_t bytes, size_t alignment) {
  void *memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void kiln::freeAligned(void *memory) { free(memory); }

void *kiln::reservePages(size_t bytes, int protection) {
  size_t mapped = bytes + hugePage;
  void *raw = mmap(nullptr, mapped, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  char *begin = static_cast<char *>(raw);
  char *aligned = begin + (hugePage - uintptr_t(begin) % hugePage) % hugePage;
  if (aligned != begin)
    munmap(begin, size_t(aligned - begin));
  munmap(aligned + bytes, mapped - bytes - size_t(aligned - begin));
  return aligned;
}

void kiln::wantHugePages(void *pages, size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(pages, bytes / hugePage * hugePage, MADV_HUGEPAGE);
#else
  (void)pages, (void)bytes;
#endif
}

void *kiln::mapPages(size_t bytes) {
  void *pages = reservePages(bytes, PROT_READ | PROT_WRITE);
  if (pages)
    wantHugePages(pages, bytes);
  return pages;
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
