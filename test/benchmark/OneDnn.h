//===- OneDnn.h - The same kernels in oneDNN -------------------------------===//
#ifndef KILN_TEST_BENCHMARK_ONEDNN_H
#define KILN_TEST_BENCHMARK_ONEDNN_H

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

/// One way of oneDNN to do it: its name and one run.
using OneDnnWay = std::pair<std::string, std::function<void()>>;

/// All ways worth comparing, weights in the order that oneDNN wants. The words are an operation and its sizes:
///   gemm M N K · matmul BATCH M N K (both sides computed) · conv CHANNELS SIZE FILTERS KERNEL STRIDE GROUPS (with a bias and ReLU, same padding)
///   softmax OUTER LENGTH INNER (along the middle) · layernorm ROWS COLUMNS · gelu ROWS COLUMNS · attention HEADS LENGTH DEPTH
/// None for words that say none of these.
std::vector<OneDnnWay> makeOneDnn(const std::vector<std::string> &words);

} // namespace kiln

#endif // KILN_TEST_BENCHMARK_ONEDNN_H
