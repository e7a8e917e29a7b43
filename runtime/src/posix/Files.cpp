#include "Pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

kiln_status mapOpenFile(int file, size_t size, const void **data) {
  struct stat info;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    return KILN_STATUS_WEIGHTS_UNREADABLE;
  if (uint64_t(info.st_size) != uint64_t(size))
    return KILN_STATUS_WEIGHTS_MISMATCH;
  if (size == 0)
    return KILN_STATUS_OK;
  // Pages of a file that the system holds in large pieces become huge pages only where the addresses are a multiple of their size.
  size_t page = size_t(sysconf(_SC_PAGESIZE)), whole = (size + page - 1) / page * page;
  void *reserved = size < kiln::hugePage ? nullptr : kiln::reservePages(whole, PROT_NONE);
  void *mapped = reserved ? mmap(reserved, size, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) : MAP_FAILED;
  if (mapped != MAP_FAILED) {
    kiln::wantHugePages(mapped, size);
  } else {
    // Some file systems choose the addresses of their files themselves.
    if (reserved)
      munmap(reserved, whole);
    mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  }
  if (mapped == MAP_FAILED)
    return KILN_STATUS_WEIGHTS_UNREADABLE;
  *data = mapped;
  return KILN_STATUS_OK;
}

} // namespace

kiln_status kiln::mapFile(const char *path, size_t size, const void **data) {
  *data = nullptr;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a FIFO must not block
  if (file < 0)
    return KILN_STATUS_WEIGHTS_UNREADABLE;
  kiln_status status = mapOpenFile(file, size, data);
  close(file);
  return status;
}

void kiln::unmapFile(const void *data, size_t size) { munmap(const_cast<void *>(data), size); }

FILE *kiln::openToWrite(const char *path) { return fopen(path, "w"); }
