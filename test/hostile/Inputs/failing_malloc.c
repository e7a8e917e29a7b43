// From the allocation that FAIL_FROM counts to, all fail. COUNT_TO names a file for the number of allocations.
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static long count, first;

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("FAIL_FROM");
  first = text ? atol(text) : 0;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("COUNT_TO");
  int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
  char digits[24];
  int n = 0;
  for (long rest = count; rest; rest /= 10)
    digits[sizeof digits - ++n] = (char)('0' + rest % 10);
  if (file < 0 || write(file, digits + sizeof digits - n, n) != n)
    return;
  close(file);
}

static int fails(void) {
  long now = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  if (!first || now < first)
    return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  void *memory = memalign(alignment, size);
  if (!memory)
    return ENOMEM;
  *result = memory;
  return 0;
}
