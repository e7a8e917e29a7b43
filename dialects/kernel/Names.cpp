//===- Names.cpp - Text of the IR that C++ text has as it stands ------------===//
#include "dialects/kernel/Names.h"

#include "kiln/abi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace kiln::kernel {

bool isIdentifier(StringRef text) {
  return !text.empty() && !isDigit(text.front()) && all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
}

/// Keywords of C and C++, macros of common headers and of GCC's gnu modes, and the names that emitted functions use themselves.
static const StringSet<> &reservedNames() {
  static const StringSet<> names = {
      "alignas",  "alignof",   "and",      "and_eq",   "asm",       "auto",     "bitand",   "bitor",        "bool",     "break",
      "case",     "catch",     "char",     "char16_t", "char32_t",  "char8_t",  "class",    "compl",        "concept",  "const",
      "consteval", "constexpr", "constinit", "const_cast", "continue", "co_await", "co_return", "co_yield",  "decltype", "default",
      "delete",   "do",        "double",   "dynamic_cast", "else",  "enum",     "explicit", "export",       "extern",   "false",
      "float",    "for",       "friend",   "goto",     "if",        "inline",   "int",      "long",         "mutable",  "namespace",
      "new",      "noexcept",  "not",      "not_eq",   "nullptr",   "operator", "or",       "or_eq",        "private",  "protected",
      "public",   "register",  "reinterpret_cast", "requires", "restrict", "return", "short", "signed",     "sizeof",   "static",
      "static_assert", "static_cast", "struct", "switch", "template", "this",   "thread_local", "throw",    "true",     "try",
      "typedef",  "typeid",    "typename", "typeof",   "union",     "unsigned", "using",    "virtual",      "void",     "volatile",
      "wchar_t",  "while",     "xor",      "xor_eq",   "kiln",      "linux",    "unix",     "i386",         "errno",    "signgam",
      "NULL",     "EOF",       "assert",   "complex",  "imaginary", "I",        "stdin",    "stdout",       "stderr",   "main",
      "int8_t",   "int16_t",   "int32_t",  "int64_t",  "uint8_t",   "uint16_t", "uint32_t", "uint64_t",     "size_t",   "ptrdiff_t",
      "begin_",   "offsetof",  "min_",     "isnan",    "isinf",     "near",     "far",      "huge",         "OVERFLOW", "DOMAIN"};
  return names;
}

/// INT8_MAX, UINT_FAST16_MAX, SIZE_MAX, INT64_C and the like: the macros of <stdint.h>.
static bool isIntegerMacro(StringRef name) {
  bool hasEnd = any_of(ArrayRef<StringRef>{"_MIN", "_MAX", "_C", "_WIDTH"}, [&](StringRef end) { return name.consume_back(end); });
  if (!hasEnd)
    return false;
  if (is_contained({"PTRDIFF", "SIZE", "SIG_ATOMIC", "WCHAR", "WINT"}, name))
    return true;
  name.consume_front("U");
  if (!name.consume_front("INT"))
    return false;
  (void)(name.consume_front("_LEAST") || name.consume_front("_FAST") || name.consume_front("MAX") || name.consume_front("PTR"));
  return all_of(name, isDigit);
}

bool isReservedName(StringRef name) { return reservedNames().contains(name) || isIntegerMacro(name) || name.starts_with("KILN_"); }

bool isFunctionName(StringRef name) {
  // Compilers keep names like __asm__ and _Pragma for themselves.
  bool isImplementations = name.starts_with("_") && name.size() > 1 && (name[1] == '_' || isUpper(name[1]));
  return isIdentifier(name) && !isImplementations && !isReservedName(name);
}

/// Functions of POSIX that LLVM does not know.
static bool isSystemFunction(StringRef name) {
  static const StringSet<> names = {
      "abort", "accept", "alarm", "bind", "brk", "clock", "clone", "close", "connect", "dup", "dup2", "execve", "exit", "fcntl", "fork", "getpid",
      "getenv", "ioctl", "kill", "listen", "longjmp", "mmap", "mprotect", "mremap", "munmap", "nanosleep", "pause", "pipe", "poll", "raise", "random",
      "rand", "recv", "sbrk", "select", "send", "setenv", "setjmp", "sigaction", "signal", "sleep", "socket", "srand", "time", "usleep", "vfork",
      "wait", "waitpid", "environ", "index", "rindex", "alloca", "atexit", "getauxval", "backtrace", "syscall", "dlopen", "dlsym", "dlclose",
      "dladdr", "clock_gettime"};
  constexpr StringLiteral families[] = {"pthread_", "thrd_", "mtx_"};
  return names.contains(name) || any_of(families, [&](StringRef family) { return name.starts_with(family); });
}

bool isUserFunctionName(StringRef name) {
  static const TargetLibraryInfoImpl library{Triple("x86_64-unknown-linux-gnu")};
  LibFunc function;
  bool isTaken = name.starts_with("_") || name.starts_with("kiln_") || library.getLibFunc(name, function) || isSystemFunction(name);
  return isFunctionName(name) && !isTaken;
}

/// No default case: the compiler then names a status that is missing here.
static StringRef nameOf(kiln_status status) {
  switch (status) {
#define KILN_NAME(STATUS)                                                                                                                            \
  case STATUS:                                                                                                                                       \
    return #STATUS;
    KILN_NAME(KILN_STATUS_OK)
    KILN_NAME(KILN_STATUS_INVALID_ARGUMENT)
    KILN_NAME(KILN_STATUS_NULL_POINTER)
    KILN_NAME(KILN_STATUS_DIMENSION_OUT_OF_BOUNDS)
    KILN_NAME(KILN_STATUS_DIMENSION_MISMATCH)
    KILN_NAME(KILN_STATUS_INDEX_OUT_OF_BOUNDS)
    KILN_NAME(KILN_STATUS_UNALIGNED_WORKSPACE)
    KILN_NAME(KILN_STATUS_WORKSPACE_TOO_SMALL)
    KILN_NAME(KILN_STATUS_OUT_OF_MEMORY)
    KILN_NAME(KILN_STATUS_UNSUPPORTED_CPU)
    KILN_NAME(KILN_STATUS_WEIGHTS_MISMATCH)
    KILN_NAME(KILN_STATUS_WEIGHTS_UNREADABLE)
    KILN_NAME(KILN_STATUS_ABI_MISMATCH)
    KILN_NAME(KILN_STATUS_THREAD_FAILURE)
    KILN_NAME(KILN_STATUS_MISSING_ALLOCATOR)
    KILN_NAME(KILN_STATUS_LIBRARY_FAILURE)
    KILN_NAME(KILN_STATUS_MISSING_FUNCTION)
    KILN_NAME(KILN_STATUS_SOUND_UNREADABLE)
    KILN_NAME(KILN_STATUS_MISSING_COMMUNICATOR)
    KILN_NAME(KILN_STATUS_RANKS_MISMATCH)
    KILN_NAME(KILN_STATUS_PEER_LATE)
    KILN_NAME(KILN_STATUS_PEER_FAILED)
    KILN_NAME(KILN_STATUS_STRING_ROOM_TOO_SMALL)
    KILN_NAME(KILN_STATUS_STRING_IS_NO_NUMBER)
    KILN_NAME(KILN_STATUS_MISSING_IMAGE_DECODER)
    KILN_NAME(KILN_STATUS_IMAGE_UNREADABLE)
    KILN_NAME(KILN_STATUS_IMAGE_TOO_LARGE)
    KILN_NAME(KILN_STATUS_SIZE_OVERFLOW)
#undef KILN_NAME
  }
  return "";
}

bool isFailureStatus(StringRef name) {
  for (int status = KILN_STATUS_OK + 1; !nameOf(static_cast<kiln_status>(status)).empty(); ++status)
    if (nameOf(static_cast<kiln_status>(status)) == name)
      return true;
  return false;
}

bool isRuntimeFunction(StringRef name) {
  static constexpr StringLiteral functions[] = {
      "kiln::couple_pairs",  "kiln::decimal_parse", "kiln::decimal_print", "kiln::image_decode",  "kiln::random_normal", "kiln::random_uniform",
      "kiln::rank_all_gather", "kiln::rank_all_reduce", "kiln::rank_all_to_all", "kiln::rank_merged", "kiln::rank_reduce_scatter",
      "kiln::rank_shift", "kiln::rank_start_all_gather", "kiln::rank_start_all_reduce", "kiln::rank_start_all_to_all",
      "kiln::rank_start_merged", "kiln::rank_start_reduce_scatter", "kiln::rank_start_shift", "kiln::rank_wait", "kiln::rank_wait_merged",
      "kiln::string_case",   "kiln::string_concat", "kiln::string_equal",  "kiln::string_fill",   "kiln::string_filter",
      "kiln::string_find",   "kiln::string_hash",   "kiln::string_match",  "kiln::string_order",  "kiln::string_split",
      "kiln::token_rows", "kiln::unique_rows"};
  // Templates of the words of a node, and of whether what equals a threshold goes right.
  static constexpr StringLiteral trees[] = {"kiln::tree_ensemble<1, false>", "kiln::tree_ensemble<2, false>", "kiln::tree_ensemble<2, true>",
                                            "kiln::tree_ensemble<3, false>"};
  // The steps of several rows that targets list, and what goes with them.
  static constexpr StringLiteral steps[] = {"kiln::depthwise_", "kiln::rows_", "kiln::tile_", "kiln::tiles_"};
  if (any_of(steps, [&](StringRef prefix) { return name.starts_with(prefix); }))
    return isIdentifier(name.drop_front(StringRef("kiln::").size()));
  // Templates of the number of lanes.
  constexpr StringLiteral ofLanes[] = {"kiln::col2im<", "kiln::distances<", "kiln::fourier_rows<", "kiln::greedy_boxes<", "kiln::top_k<", "kiln::top_k_row<"};
  if (any_of(ofLanes, [&](StringRef function) { return name.consume_front(function); }))
    return name.consume_back(">") && name.size() <= 3 && !name.empty() && all_of(name, isDigit);
  // A template of the number of levels, and of whether nodes hold leaves.
  if (name.consume_front("kiln::full_trees<")) {
    auto [levels, holdsLeaves] = name.split(", ");
    return !levels.empty() && levels.size() <= 2 && all_of(levels, isDigit) && (holdsLeaves == "true>" || holdsLeaves == "false>");
  }
  return is_contained(functions, name) || is_contained(trees, name);
}

} // namespace kiln::kernel
