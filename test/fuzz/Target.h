//===- Target.h - What a fuzzer calls --------------------------------------===//
#ifndef KILN_TEST_FUZZ_TARGET_H
#define KILN_TEST_FUZZ_TARGET_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace kiln {

/// Writes an input where the compiler can read it: one file for the whole process, in memory where the system has that. Returns its path.
std::string writeInput(const uint8_t *data, size_t size, const char *suffix);

} // namespace kiln

/// libFuzzer's entry: reads one input. Returns when the input is refused or accepted; everything else is a fault.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif // KILN_TEST_FUZZ_TARGET_H
