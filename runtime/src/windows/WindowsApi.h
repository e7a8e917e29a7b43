// The system's header without most of what it brings.
#ifndef KILN_RUNTIME_WINDOWS_WINDOWSAPI_H
#define KILN_RUNTIME_WINDOWS_WINDOWSAPI_H

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#endif // KILN_RUNTIME_WINDOWS_WINDOWSAPI_H
