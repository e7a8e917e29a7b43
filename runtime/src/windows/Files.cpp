#include "../System.h"

#include "WindowsApi.h"

#include <stdlib.h>

namespace {

// The path, which is UTF-8, in UTF-16 and from malloc(); null where it is no UTF-8.
wchar_t *widen(const char *path) {
  const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, nullptr, 0);
  wchar_t *wide = length > 0 ? static_cast<wchar_t *>(malloc(size_t(length) * sizeof(wchar_t))) : nullptr;
  if (wide)
    MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, length);
  return wide;
}

kiln_status mapOpenFile(HANDLE file, size_t size, const void **data) {
  LARGE_INTEGER length;
  if (GetFileType(file) != FILE_TYPE_DISK || !GetFileSizeEx(file, &length))
    return KILN_STATUS_WEIGHTS_UNREADABLE;
  if (uint64_t(length.QuadPart) != uint64_t(size))
    return KILN_STATUS_WEIGHTS_MISMATCH;
  if (size == 0)
    return KILN_STATUS_OK;
  const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (!mapping)
    return KILN_STATUS_WEIGHTS_UNREADABLE;
  // The view keeps the mapping, and the mapping the file.
  *data = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size);
  CloseHandle(mapping);
  return *data ? KILN_STATUS_OK : KILN_STATUS_WEIGHTS_UNREADABLE;
}

} // namespace

kiln_status kiln::mapFile(const char *path, size_t size, const void **data) {
  *data = nullptr;
  wchar_t *wide = widen(path);
  if (!wide)
    return KILN_STATUS_WEIGHTS_UNREADABLE;
  // Not a folder, which needs FILE_FLAG_BACKUP_SEMANTICS.
  const HANDLE file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  free(wide);
  if (file == INVALID_HANDLE_VALUE)
    return KILN_STATUS_WEIGHTS_UNREADABLE;
  const kiln_status status = mapOpenFile(file, size, data);
  CloseHandle(file);
  return status;
}

void kiln::unmapFile(const void *data, size_t) { UnmapViewOfFile(data); }

FILE *kiln::openToWrite(const char *path) {
  wchar_t *wide = widen(path);
  FILE *file = wide ? _wfopen(wide, L"wb") : nullptr;
  free(wide);
  return file;
}
