#ifndef KILN_RUNTIME_POSIX_THREAD_H
#define KILN_RUNTIME_POSIX_THREAD_H

#include <pthread.h>

namespace kiln {

using Thread = pthread_t;

} // namespace kiln

#endif // KILN_RUNTIME_POSIX_THREAD_H
