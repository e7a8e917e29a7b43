#include "kiln/runtime.h"

#include "System.h"

using namespace kiln;

namespace {

// The first touch of a small page costs as much as filling it: 4 to 6 ms for 60 MB, against 60 huge pages. A smaller workspace is
// touched sooner than its huge page is cleared.
bool wantsHugePages(size_t bytes) { return bytes >= 2 * hugePage; }

size_t roundUp(size_t bytes, size_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

// What the system maps comes in pages, the largest of which on any CPU that has such systems are 64 KiB.
size_t mappedSize(size_t bytes) { return roundUp(bytes, size_t(64) << 10); }

// Memory that a run is likely to use is given by the system now, so that the first run takes as long as the others. A workspace that is larger
// than this is often sized for the largest case of a model whose sizes only the data tells.
const size_t mostTouched = size_t(1) << 30;
const size_t smallestPage = 4096;

void touchPages(void *workspace, size_t bytes) {
  if (bytes > mostTouched)
    return;
  if (wantsHugePages(bytes) && populatePages(workspace, mappedSize(bytes)))
    return;
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
    *workspace = mapPages(mappedSize(size));
  else
    *workspace = allocateAligned(size ? size : 1, KILN_ALIGNMENT);
  if (!*workspace)
    return KILN_STATUS_OUT_OF_MEMORY;
  touchPages(*workspace, size);
  return KILN_STATUS_OK;
}

void kiln_workspace_destroy(void *workspace, size_t size) {
  if (!workspace)
    return;
  if (wantsHugePages(size))
    unmapPages(workspace, mappedSize(size));
  else
    freeAligned(workspace);
}
