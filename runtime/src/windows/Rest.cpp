#include "../System.h"

#include "WindowsApi.h"

// Windows sleeps for whole milliseconds.
void kiln::restThread(int64_t nanoseconds) {
  if (nanoseconds <= 0)
    SwitchToThread();
  else
    Sleep(DWORD((nanoseconds + 999999) / 1000000));
}
