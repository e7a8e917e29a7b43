// What the runtime uses of macOS' C library, as its documentation has it: there is no SDK where the tests run. Sizes and values are those of 64-bit systems.
#ifndef KILN_TEST_MACOS_DECLARATIONS_H
#define KILN_TEST_MACOS_DECLARATIONS_H

#include <stddef.h>
#include <stdint.h>

extern "C" {
typedef long ssize_t;
typedef int64_t off_t;
typedef uint16_t mode_t;

void *calloc(size_t count, size_t size);
void *malloc(size_t size);
void free(void *memory);
int posix_memalign(void **result, size_t alignment, size_t size);

void *memset(void *to, int value, size_t size);
int strcmp(const char *a, const char *b);

typedef struct _opaque_pthread_t *pthread_t;
typedef struct {
  long signature;
  char opaque[56];
} pthread_attr_t, pthread_mutex_t;
typedef struct {
  long signature;
  char opaque[40];
} pthread_cond_t;
typedef struct {
  long signature;
  char opaque[8];
} pthread_once_t, pthread_mutexattr_t, pthread_condattr_t;
#define PTHREAD_MUTEX_INITIALIZER {0x32AAABA7, {0}}
#define PTHREAD_COND_INITIALIZER {0x3CB0B1BB, {0}}
#define PTHREAD_ONCE_INIT {0x30B1BCBA, {0}}
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int pthread_cond_broadcast(pthread_cond_t *condition);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument);
int pthread_join(pthread_t thread, void **result);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_once(pthread_once_t *once, void (*function)(void));

typedef uint32_t sigset_t;
#define SIG_SETMASK 3
#define sigfillset(set) (*(set) = ~sigset_t(0), 0)
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);

#define _SC_NPROCESSORS_ONLN 58
long sysconf(int name);
int close(int file);

#define O_RDONLY 0
#define O_NONBLOCK 4
#define O_CLOEXEC 0x1000000
int open(const char *path, int flags, ...);

struct stat {
  int32_t st_dev;
  mode_t st_mode;
  off_t st_size;
};
#define S_ISREG(mode) (((mode) & 0170000) == 0100000)
int fstat(int file, struct stat *info);

#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 0x1000
#define MAP_FAILED (reinterpret_cast<void *>(-1))
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int munmap(void *address, size_t size);

struct timespec {
  long tv_sec, tv_nsec;
};
enum clockid_t { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 6 };
int clock_gettime(clockid_t clock, struct timespec *time);
}

#endif // KILN_TEST_MACOS_DECLARATIONS_H
