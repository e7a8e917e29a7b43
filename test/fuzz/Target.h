//===- Target.h - What a fuzzer calls --------------------------------------===//
#ifndef KILN_TEST_FUZZ_TARGET_H
#define KILN_TEST_FUZZ_TARGET_H

#include "llvm/Support/Error.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace kiln {

/// Writes an input where the compiler can read it: one file for each suffix, in memory where the system has that. Returns its path.
std::string writeInput(const uint8_t *data, size_t size, const char *suffix);

void writeFile(const std::string &path, const uint8_t *data, size_t size);

/// Ends the process with a message when something does not hold.
void expect(bool holds, const char *otherwise);

/// A refusal must say why, in few words; with a message it must not happen at all.
void expectReason(llvm::Error error, const char *otherwise = nullptr);

} // namespace kiln

/// libFuzzer's entry: reads one input. Returns when the input is refused or accepted; everything else is a fault.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif // KILN_TEST_FUZZ_TARGET_H
