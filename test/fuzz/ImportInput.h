//===- ImportInput.h - An input of a fuzzer as a model ---------------------===//
#ifndef KILN_TEST_FUZZ_IMPORTINPUT_H
#define KILN_TEST_FUZZ_IMPORTINPUT_H

#include <cstddef>
#include <cstdint>

namespace kiln {

/// Imports an input as a file with that suffix. Ends the process unless there is a model, or a reason why there is none.
void importInput(const uint8_t *data, size_t size, const char *suffix);

} // namespace kiln

#endif // KILN_TEST_FUZZ_IMPORTINPUT_H
