// From the allocation that CRASH_AT counts to, malloc crashes while it holds its lock, as one whose lists are damaged does.
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

void *__libc_malloc(size_t);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count, last;

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("CRASH_AT");
  last = text ? atol(text) : 0;
}

void *malloc(size_t size) {
  pthread_mutex_lock(&lock);
  if (last && ++count == last)
    *(volatile char *)8 = 0;
  pthread_mutex_unlock(&lock);
  return __libc_malloc(size);
}
