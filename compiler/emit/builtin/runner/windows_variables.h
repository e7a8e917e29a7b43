// getenv() by the system alone.
#ifndef KILN_RUNNER_WINDOWS_VARIABLES_H
#define KILN_RUNNER_WINDOWS_VARIABLES_H

#include <stdint.h>

extern "C" {
uint32_t GetEnvironmentVariableA(const char *name, char *value, uint32_t size);

// Models read KILN_CPU_WITHOUT, and after it KILN_TARGET. A value is there until the next one is read, and longer ones count as none.
char *getenv(const char *name) {
  static char value[256];
  const uint32_t length = GetEnvironmentVariableA(name, value, sizeof(value));
  return length > 0 && length < sizeof(value) ? value : nullptr;
}
}

#endif // KILN_RUNNER_WINDOWS_VARIABLES_H
