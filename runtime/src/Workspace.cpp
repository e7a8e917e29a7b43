#include "kiln/runtime.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

namespace {

// x86-64, and AArch64 with pages of 4 KiB. Elsewhere the advice costs nothing.
const size_t hugePage = size_t(2) << 20;

// The first touch of a small page costs as much as filling it: 4 to 6 ms for 60 MB, against 60 huge pages. A smaller workspace is
// touched sooner than its huge page is cleared.
bool wantsHugePages(size_t bytes) { return bytes >= 2 * hugePage; }

size_t roundUp(size_t bytes, size_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

void *mapAligned(size_t bytes) {
  size_t mapped = bytes + hugePage;
  void *raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  char *begin = static_cast<char *>(raw);
  char *aligned = begin + (roundUp(uintptr_t(begin), hugePage) - uintptr_t(begin));
  if (aligned != begin)
    munmap(begin, size_t(aligned - begin));
  munmap(aligned + bytes, mapped - bytes - size_t(aligned - begin));
#ifdef MADV_HUGEPAGE
  // Only whole huge pages: the last, partial one would take memory that the workspace does not need.
  madvise(aligned, bytes / hugePage * hugePage, MADV_HUGEPAGE);
#endif
  return aligned;
}

// What mmap() gives comes in pages, the largest of which on any CPU that has such systems are 64 KiB.
size_t mappedSize(size_t bytes) { return roundUp(bytes, size_t(64) << 10); }

// Memory that a run is likely to use is given by the system now, so that the first run takes as long as the others. A workspace that is larger
// than this is often sized for the largest case of a model whose sizes only the data tells.
const size_t mostTouched = size_t(1) << 30;
const size_t smallestPage = 4096;

void touchPages(void *workspace, size_t bytes) {
  if (bytes > mostTouched)
    return;
#ifdef MADV_POPULATE_WRITE
  if (wantsHugePages(bytes) && madvise(workspace, mappedSize(bytes), MADV_POPULATE_WRITE) == 0)
    return;
#endif
  volatile char *page = static_cast<volatile char *>(workspace);
  for (size_t at = 0; at < bytes; at += smallestPage)
    page[at] = 0;
  if (bytes)
    page[bytes - 1] = 0;
}

} // namespace

kiln_status kiln_workspace_create(size_t size, void **workspace) {
  if (!workspace)
    return KILN_STATUS_NULL_POINTER;
  *workspace = nullptr;
  if (size > SIZE_MAX - 3 * hugePage)
    return KILN_STATUS_OUT_OF_MEMORY;
  if (wantsHugePages(size))
    *workspace = mapAligned(mappedSize(size));
  else if (posix_memalign(workspace, KILN_ALIGNMENT, size ? size : 1) != 0)
    *workspace = nullptr;
  if (!*workspace)
    return KILN_STATUS_OUT_OF_MEMORY;
  touchPages(*workspace, size);
  return KILN_STATUS_OK;
}

void kiln_workspace_destroy(void *workspace, size_t size) {
  if (!workspace)
    return;
  if (wantsHugePages(size))
    munmap(workspace, mappedSize(size));
  else
    free(workspace);
}
