// What the runtime uses of Windows and its C library, as their documentation has it: there is no Windows SDK where the tests run.
#ifndef KILN_TEST_MSVC_WINDOWS_H
#define KILN_TEST_MSVC_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

extern "C" {
typedef int BOOL;
typedef unsigned short WORD;
typedef unsigned int UINT;
typedef unsigned long DWORD;
typedef uintptr_t DWORD_PTR;
typedef void *HANDLE;
typedef union {
  struct {
    DWORD LowPart;
    long HighPart;
  } u;
  long long QuadPart;
} LARGE_INTEGER;
typedef struct {
  void *Ptr;
} SRWLOCK, CONDITION_VARIABLE;
typedef struct _SECURITY_ATTRIBUTES SECURITY_ATTRIBUTES;
#define SRWLOCK_INIT {0}
#define CONDITION_VARIABLE_INIT {0}
#define INFINITE 0xFFFFFFFF
#define INVALID_HANDLE_VALUE ((HANDLE)(intptr_t)-1)
#define CP_UTF8 65001
#define MB_ERR_INVALID_CHARS 8
#define FILE_TYPE_DISK 1
#define FILE_MAP_READ 4
#define FILE_ATTRIBUTE_NORMAL 0x80
#define FILE_SHARE_READ 1
#define FILE_SHARE_DELETE 4
#define GENERIC_READ 0x80000000L
#define OPEN_EXISTING 3
#define PAGE_READONLY 2
#define PAGE_READWRITE 4
#define MEM_COMMIT 0x1000
#define MEM_RESERVE 0x2000
#define MEM_RELEASE 0x8000
#define ALL_PROCESSOR_GROUPS 0xffff

__declspec(dllimport) void __stdcall AcquireSRWLockExclusive(SRWLOCK *lock);
__declspec(dllimport) void __stdcall ReleaseSRWLockExclusive(SRWLOCK *lock);
__declspec(dllimport) BOOL __stdcall SleepConditionVariableSRW(CONDITION_VARIABLE *condition, SRWLOCK *lock, DWORD milliseconds, unsigned long flags);
__declspec(dllimport) void __stdcall WakeAllConditionVariable(CONDITION_VARIABLE *condition);
__declspec(dllimport) BOOL __stdcall CloseHandle(HANDLE handle);
__declspec(dllimport) HANDLE __stdcall CreateFileMappingW(HANDLE file, SECURITY_ATTRIBUTES *, DWORD protection, DWORD high, DWORD low, const wchar_t *name);
__declspec(dllimport) HANDLE __stdcall CreateFileW(const wchar_t *path, DWORD access, DWORD share, SECURITY_ATTRIBUTES *, DWORD how, DWORD flags, HANDLE);
__declspec(dllimport) DWORD __stdcall GetActiveProcessorCount(WORD group);
__declspec(dllimport) HANDLE __stdcall GetCurrentProcess(void);
__declspec(dllimport) BOOL __stdcall GetFileSizeEx(HANDLE file, LARGE_INTEGER *size);
__declspec(dllimport) DWORD __stdcall GetFileType(HANDLE file);
__declspec(dllimport) BOOL __stdcall GetProcessAffinityMask(HANDLE process, DWORD_PTR *mine, DWORD_PTR *all);
__declspec(dllimport) void *__stdcall MapViewOfFile(HANDLE mapping, DWORD access, DWORD high, DWORD low, size_t size);
__declspec(dllimport) int __stdcall MultiByteToWideChar(UINT page, DWORD flags, const char *from, int bytes, wchar_t *to, int length);
__declspec(dllimport) BOOL __stdcall QueryPerformanceCounter(LARGE_INTEGER *count);
__declspec(dllimport) BOOL __stdcall QueryPerformanceFrequency(LARGE_INTEGER *rate);
__declspec(dllimport) BOOL __stdcall UnmapViewOfFile(const void *data);
__declspec(dllimport) void *__stdcall VirtualAlloc(void *address, size_t size, DWORD kind, DWORD protection);
__declspec(dllimport) BOOL __stdcall VirtualFree(void *address, size_t size, DWORD kind);
__declspec(dllimport) DWORD __stdcall WaitForSingleObject(HANDLE handle, DWORD milliseconds);

uintptr_t __cdecl _beginthreadex(void *security, unsigned stack, unsigned(__stdcall *function)(void *), void *argument, unsigned flags, unsigned *id);
void *__cdecl _aligned_malloc(size_t size, size_t alignment);
void __cdecl _aligned_free(void *memory);
void *__cdecl calloc(size_t count, size_t size);
void *__cdecl malloc(size_t size);
void __cdecl free(void *memory);
void *__cdecl memset(void *to, int value, size_t size);
int __cdecl strcmp(const char *a, const char *b);
}

#endif // KILN_TEST_MSVC_WINDOWS_H
