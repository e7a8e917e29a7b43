//===- KernelFunctions.h - The kernels of `kiln kernels` in the benchmark ---===//
#ifndef KILN_TEST_BENCHMARK_KERNELFUNCTIONS_H
#define KILN_TEST_BENCHMARK_KERNELFUNCTIONS_H

#include "kiln/abi.h"
#include "kiln/runtime.h"
#include <functional>
#include <string>
#include <vector>

namespace kiln {

/// One run of the function `library_...` in a shared library that does what the words of a shape say (OneDnn.h), on buffers of its own. Empty where the library
/// has none for them, with the reason in `error`.
std::function<kiln_status()> makeKernelCall(const char *path, const std::vector<std::string> &words, const kiln_context &context, std::string &error);

/// The same for a product whose right side, or a convolution whose filters are packed before the first run. Empty where the library has none.
std::function<kiln_status()> makePackedCall(const char *path, const std::vector<std::string> &words, kiln_element_type element, const kiln_context &context);

/// One run of OpenBLAS's sgemm; empty without OpenBLAS, and for words that are no product of matrices.
std::function<void()> makeOpenBlas(const std::vector<std::string> &words);

} // namespace kiln

#endif // KILN_TEST_BENCHMARK_KERNELFUNCTIONS_H
