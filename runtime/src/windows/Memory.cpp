#include "../System.h"

#include "WindowsApi.h"

#include <malloc.h>

void *kiln::allocateAligned(size_t bytes, size_t alignment) { return _aligned_malloc(bytes, alignment); }

void kiln::freeAligned(void *memory) { _aligned_free(memory); }

// Huge pages need a privilege that programs seldom have, so these are small ones.
void *kiln::mapPages(size_t bytes) { return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }

void kiln::unmapPages(void *pages, size_t) { VirtualFree(pages, 0, MEM_RELEASE); }

bool kiln::populatePages(void *, size_t) { return false; }
