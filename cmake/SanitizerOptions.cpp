//===- SanitizerOptions.cpp - Defaults of a build with sanitizers ----------===//
//
// $ASAN_OPTIONS and $UBSAN_OPTIONS go before these. A finding ends a program with a status that no program of Kiln's has of its own.
//
//===----------------------------------------------------------------------===//

/// LLVM's libraries fill containers and take parts of slabs without ASan knowing it, and keep what they make once.
extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0:allocator_may_return_null=1:exitcode=86";
}

extern "C" const char *__ubsan_default_options() { return "print_stacktrace=1:exitcode=86"; }
