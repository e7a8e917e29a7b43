/* Preloaded: the system refuses all threads but the first FREE_THREADS, as beyond `ulimit -u`, which does not hold for root. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  static int started;
  const char *free_threads = getenv("FREE_THREADS");
  if (started++ >= (free_threads ? atoi(free_threads) : 0))
    return EAGAIN;
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attributes, run, argument);
}
