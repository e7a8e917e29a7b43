#ifndef KILN_RUNTIME_WINDOWS_THREAD_H
#define KILN_RUNTIME_WINDOWS_THREAD_H

#include <stdint.h>

namespace kiln {

struct Thread {
  uintptr_t handle;
  void *(*work)(void *);
  void *argument;
};

} // namespace kiln

#endif // KILN_RUNTIME_WINDOWS_THREAD_H
