//===- ForeignSymbols.cpp - What is known of functions outside of a library ---===//
#include "compiler/emit/ForeignSymbols.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace kiln {

static constexpr StringLiteral plain[] = {"bcmp", "memchr", "memcmp", "memcpy", "memmove", "memset", "strlen", "_fltused",
                                          // They say what the CPU has, for the choice among targets.
                                          "getauxval", "sysctlbyname", "IsProcessorFeaturePresent", "elf_aux_info"};

static constexpr StringLiteral linked[] = {"_GLOBAL_OFFSET_TABLE_", "__ImageBase",  "__stack_pointer", "__indirect_function_table", "__memory_base",
                                           "__table_base",          "__linear_memory"};

static constexpr StringLiteral allocators[] = {
    "malloc",      "calloc",       "realloc",        "reallocarray", "free",       "cfree",        "aligned_alloc", "posix_memalign", "memalign",
    "valloc",      "pvalloc",      "mmap",           "mmap64",       "munmap",     "mremap",       "brk",           "sbrk",           "strdup",
    "strndup",     "asprintf",     "vasprintf",      "_mm_malloc",   "_mm_free",   "HeapAlloc",    "HeapFree",      "HeapReAlloc",    "VirtualAlloc",
    "VirtualFree", "LocalAlloc",   "LocalFree",      "GlobalAlloc",  "GlobalFree", "_aligned_malloc", "_aligned_free", "pvPortMalloc", "vPortFree",
    "__cxa_allocate_exception",    "__cxa_get_globals", "_malloc_r",  "_free_r",    "_realloc_r",   "_calloc_r"};

static constexpr StringLiteral varying[] = {
    "clock",       "time",         "times",         "gettimeofday", "clock_gettime", "timespec_get", "ftime",        "localtime",     "gmtime",
    "mktime",      "rand",         "srand",         "rand_r",       "random",        "srandom",      "drand48",      "erand48",       "lrand48",
    "mrand48",     "arc4random",   "arc4random_buf", "getrandom",   "getentropy",    "getenv",       "secure_getenv", "getpid",       "gettid",
    "pthread_self", "thrd_current", "sched_getcpu", "mach_absolute_time", "GetCurrentThreadId", "GetCurrentProcessId", "GetSystemTimeAsFileTime",
    "GetTickCount", "GetTickCount64", "QueryPerformanceCounter", "BCryptGenRandom", "SystemFunction036", "rand_s", "kiln_clock_ns", "dl_iterate_phdr"};

/// Without the f or l of other types than double.
static constexpr StringLiteral math[] = {
    "acos",   "acosh",  "asin",   "asinh", "atan",  "atan2",   "atanh",     "cbrt",      "ceil",   "copysign", "cos",    "cosh",      "erf",        "erfc",
    "exp",    "exp10",  "exp2",   "expm1", "fabs",  "fdim",    "floor",     "fma",       "fmax",   "fmin",     "fmod",   "frexp",     "hypot",      "ilogb",
    "ldexp",  "lgamma", "llrint", "llround", "log", "log10",   "log1p",     "log2",      "logb",   "lrint",    "lround", "modf",      "nan",        "nearbyint",
    "nextafter", "nexttoward", "pow", "remainder", "remquo",   "rint",      "round",     "roundeven", "scalbln", "scalbn", "sin",     "sincos",     "sinh",
    "sqrt",   "tan",    "tanh",   "tgamma", "trunc", "j0",     "j1",        "jn",        "y0",     "y1",       "yn"};

/// Functions of libgcc and compiler-rt: arithmetic of numbers that the CPU has no instructions for, and probes of the stack.
static bool isCompilerSupport(StringRef name) {
  static const Regex arithmetic("^__(extend|trunc|float|floatun|fix|fixuns|add|sub|mul|div|udiv|mod|umod|udivmod|divmod|ashl|ashr|lshr|cmp|ucmp|eq|ne|lt|le|gt|"
                                "ge|unord|neg|abs|clz|ctz|ffs|popcount|parity|bswap|powi)[sdthxoqbfiuncv]*[234]?$");
  static const Regex families("^(__aeabi_|__gnu_[fhd]2[fhd]_|__riscv_(save|restore)_|___?chkstk|__arm_sme_|__aarch64_|__sync_|__atomic_)");
  return arithmetic.match(name) || families.match(name);
}

static bool isMath(StringRef name) {
  if (is_contained(math, name) || name.starts_with("_ZGV") || name.starts_with("__svml_") || name.ends_with("_stret"))
    return true;
  return (name.ends_with("f") || name.ends_with("l")) && is_contained(math, name.drop_back());
}

ForeignKind classifyForeign(StringRef name) {
  // operator new and delete, as GCC and Clang, and as Visual C++ spell them.
  if (is_contained(allocators, name) || Regex("^(_Zn[wa]|_Zd[la]|\\?\\?[23_][UV]?@)").match(name))
    return ForeignKind::Allocation;
  if (is_contained(linked, name))
    return ForeignKind::Linker;
  if (is_contained(plain, name) || isCompilerSupport(name))
    return ForeignKind::Support;
  if (is_contained(varying, name))
    return ForeignKind::Varying;
  return isMath(name) ? ForeignKind::Math : ForeignKind::Unknown;
}

} // namespace kiln
