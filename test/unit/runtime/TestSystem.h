// What tests ask of the system, where POSIX and Windows differ.
#ifndef KILN_TEST_TESTSYSTEM_H
#define KILN_TEST_TESTSYSTEM_H

#include <cstdint>
#include <cstdlib>
#include <unistd.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/resource.h>
#endif

namespace kiln_test {

#if defined(_WIN32)

inline void setVariable(const char *name, const char *value) { _putenv_s(name, value); }
inline void unsetVariable(const char *name) { _putenv_s(name, ""); }

/// The time that all threads of the process have used.
inline double cpuSeconds() {
  FILETIME created, ended, kernel, user;
  GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user);
  const auto seconds = [](const FILETIME &time) { return double((uint64_t(time.dwHighDateTime) << 32) + time.dwLowDateTime) * 1e-7; };
  return seconds(kernel) + seconds(user);
}

#else

inline void setVariable(const char *name, const char *value) { setenv(name, value, 1); }
inline void unsetVariable(const char *name) { unsetenv(name); }

/// The time that all threads of the process have used.
inline double cpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

#endif

} // namespace kiln_test

#endif // KILN_TEST_TESTSYSTEM_H
