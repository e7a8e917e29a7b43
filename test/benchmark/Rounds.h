//===- Rounds.h - What the two sides of a model benchmark share -------------===//
//
// Each side is a process that gets a model ready, prints "ready LOAD_MS [OTHERS]" and then answers each line SECONDS on stdin with the median latency, in
// milliseconds, of the runs that fit into that time; runs of microseconds are timed many at once. The driver gives them turns. Neither side links anything of the compiler: their peaks of
// memory are compared.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_TEST_BENCHMARK_ROUNDS_H
#define KILN_TEST_BENCHMARK_ROUNDS_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace kiln::rounds {

[[noreturn]] inline void fail(const std::string &message) {
  std::cerr << message << "\n";
  std::exit(1);
}

inline double getMilliseconds() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Memory at a multiple of 64 bytes.
using Buffer = std::unique_ptr<char, decltype(&std::free)>;

inline Buffer allocate(size_t bytes) {
  Buffer buffer(static_cast<char *>(std::aligned_alloc(64, (bytes + 64) & ~size_t(63))), &std::free);
  return buffer ? std::move(buffer) : (fail("out of memory"), std::move(buffer));
}

struct Input {
  std::string name;
  /// As in ONNX TensorProto.DataType.
  int elementType = 0;
  std::vector<int64_t> dims;
  size_t bytes = 0;
  Buffer data{nullptr, &std::free};
  /// The elements of a tensor of strings, in UTF-8; `bytes` is then what kiln_string takes for each.
  std::vector<std::string> texts;
};

/// NumPy's strings of `size` code points, padded with zeros.
inline std::vector<std::string> decodeTexts(const std::string &bytes, size_t begin, size_t size) {
  std::vector<std::string> texts;
  for (; size && begin + 4 * size <= bytes.size(); begin += 4 * size) {
    std::string &text = texts.emplace_back();
    for (size_t at = begin; at < begin + 4 * size; at += 4) {
      unsigned code = uint8_t(bytes[at]) | uint8_t(bytes[at + 1]) << 8 | uint8_t(bytes[at + 2]) << 16;
      if (!code)
        break;
      int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      text += char(more ? (0xFF00 >> (more + 1) & 0xFF) | code >> 6 * more : code);
      for (int rest = more - 1; rest >= 0; --rest)
        text += char(0x80 | (code >> 6 * rest & 0x3F));
    }
  }
  return texts;
}

/// The number that ONNX gives to an element type of NumPy; 0: none.
inline int getElementType(const std::string &descr) {
  static const std::pair<const char *, int> types[] = {{"<f4", 1},  {"|u1", 2},  {"|i1", 3},  {"<u2", 4},  {"<i2", 5},  {"<i4", 6}, {"<i8", 7},
                                                       {"|b1", 9}, {"<f2", 10}, {"<f8", 11}, {"<u4", 12}, {"<u8", 13}, {"|V2", 16}};
  for (auto [name, number] : types)
    if (descr == name)
      return number;
  return 0;
}

/// NAME=FILE.npy, of version 1 as NumPy writes it.
inline Input readInput(const std::string &argument) {
  Input input;
  size_t equals = argument.rfind('=');
  std::string path = argument.substr(equals + 1);
  input.name = argument.substr(0, equals);
  std::ifstream file(path, std::ios::binary);
  std::string all((std::istreambuf_iterator<char>(file)), {});
  size_t begin = all.size() < 10 ? 0 : 10 + uint8_t(all[8]) + 256 * size_t(uint8_t(all[9]));
  if (!begin || begin > all.size() || all[6] != 1)
    fail(path + ": cannot read");
  std::string header = all.substr(10, begin - 10);
  size_t descr = header.find("'descr': '"), shape = header.find("'shape': (");
  if (descr == header.npos || shape == header.npos)
    fail(path + ": no header");
  input.elementType = getElementType(header.substr(descr + 10, 3));
  for (const char *at = header.c_str() + shape + 10; *at && *at != ')';) {
    char *end;
    int64_t dim = std::strtoll(at, &end, 10);
    if (end != at)
      input.dims.push_back(dim);
    at = end == at ? at + 1 : end;
  }
  if (header.compare(descr + 10, 2, "<U") == 0) {
    input.elementType = 8;
    input.texts = decodeTexts(all, begin, std::strtoul(header.c_str() + descr + 12, nullptr, 10));
    input.bytes = 16 * input.texts.size();
    return input;
  }
  input.bytes = all.size() - begin;
  input.data = allocate(input.bytes);
  std::copy(all.begin() + begin, all.end(), input.data.get());
  return input;
}

/// Returns how many runs fill a twentieth of a millisecond, so that reading the clock takes no visible part of them.
template <typename Run> int countRunsBetweenReadings(Run run) {
  for (int count = 1;; count *= 2) {
    double before = getMilliseconds();
    for (int i = 0; i < count; ++i)
      run();
    if (double took = getMilliseconds() - before; took >= 0.05)
      return std::max(1, int(count * 0.05 / took));
  }
}

/// `run` runs the model once; `others` is added to the first line.
template <typename Run> int answerRequests(double start, Run run, const std::string &others = "") {
  run();
  std::cout << "ready " << getMilliseconds() - start << others << std::endl;
  int count = countRunsBetweenReadings(run);
  for (double seconds = 0; std::cin >> seconds;) {
    std::vector<double> times;
    for (double begin = getMilliseconds(), now = begin; times.size() < 3 || now - begin < seconds * 1e3;) {
      double before = getMilliseconds();
      for (int i = 0; i < count; ++i)
        run();
      now = getMilliseconds();
      times.push_back((now - before) / count);
    }
    std::sort(times.begin(), times.end());
    std::cout << (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2 << std::endl;
  }
  return 0;
}

} // namespace kiln::rounds

#endif // KILN_TEST_BENCHMARK_ROUNDS_H
