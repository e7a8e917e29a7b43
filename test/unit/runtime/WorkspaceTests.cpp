#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <cstring>
#if !defined(_WIN32)
#include <sys/mman.h>
#include <unistd.h>
#endif
#include <vector>

namespace {

TEST(Workspace, EverySizeIsAlignedAndWritableToItsEnd) {
  const size_t huge = size_t(2) << 20;
  for (size_t size : {size_t(0), size_t(1), size_t(4096), 2 * huge - 1, 2 * huge, 2 * huge + 1, 5 * huge + 4097}) {
    void *workspace = nullptr;
    ASSERT_EQ(kiln_workspace_create(size, &workspace), KILN_STATUS_OK) << size;
    ASSERT_NE(workspace, nullptr) << size;
    EXPECT_EQ(uintptr_t(workspace) % KILN_ALIGNMENT, 0u) << size;
#if !defined(_WIN32)
    if (size >= 2 * huge)
      EXPECT_EQ(uintptr_t(workspace) % huge, 0u) << size;
#endif
    std::memset(workspace, 0xAB, size);
    kiln_workspace_destroy(workspace, size);
  }
}

#if !defined(_WIN32)
#if defined(__APPLE__)
using Residency = char;
#else
using Residency = unsigned char;
#endif

TEST(Workspace, PagesAreThereBeforeTheFirstRun) {
  const uintptr_t pageSize = uintptr_t(sysconf(_SC_PAGESIZE));
  for (size_t size : {size_t(1) << 20, (size_t(1) << 20) + 1, size_t(4) << 20, (size_t(11) << 20) + 12345}) {
    void *workspace = nullptr;
    ASSERT_EQ(kiln_workspace_create(size, &workspace), KILN_STATUS_OK) << size;
    const uintptr_t first = uintptr_t(workspace) / pageSize * pageSize, end = uintptr_t(workspace) + size;
    std::vector<Residency> resident((end - first + pageSize - 1) / pageSize);
    ASSERT_EQ(mincore(reinterpret_cast<void *>(first), end - first, resident.data()), 0) << size;
    for (size_t i = 0; i < resident.size(); ++i)
      EXPECT_TRUE(resident[i] & 1) << "page " << i << " of " << resident.size() << " for " << size;
    kiln_workspace_destroy(workspace, size);
  }
}
#endif

TEST(Workspace, TwoOfThemDoNotOverlap) {
  const size_t size = size_t(9) << 20;
  void *first, *second;
  ASSERT_EQ(kiln_workspace_create(size, &first), KILN_STATUS_OK);
  ASSERT_EQ(kiln_workspace_create(size, &second), KILN_STATUS_OK);
  std::memset(first, 1, size);
  std::memset(second, 2, size);
  EXPECT_EQ(static_cast<char *>(first)[size - 1], 1);
  kiln_workspace_destroy(first, size);
  EXPECT_EQ(static_cast<char *>(second)[0], 2);
  kiln_workspace_destroy(second, size);
}

TEST(Workspace, FailuresLeaveNull) {
  EXPECT_EQ(kiln_workspace_create(64, nullptr), KILN_STATUS_NULL_POINTER);
  for (size_t size : {SIZE_MAX, SIZE_MAX - (size_t(1) << 20), size_t(1) << 62}) {
    void *workspace = &workspace;
    EXPECT_EQ(kiln_workspace_create(size, &workspace), KILN_STATUS_OUT_OF_MEMORY);
    EXPECT_EQ(workspace, nullptr);
  }
  kiln_workspace_destroy(nullptr, 0);
  kiln_workspace_destroy(nullptr, size_t(1) << 30);
}

} // namespace
