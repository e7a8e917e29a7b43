//===- Rounds.h - What the two sides of a model benchmark share -------------===//
//
// Each side is a process that gets a model ready, prints "ready LOAD_MS" and then answers each line SECONDS on stdin with the median latency, in
// milliseconds, of the runs that fit into that time. The driver gives them turns.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_TEST_BENCHMARK_ROUNDS_H
#define KILN_TEST_BENCHMARK_ROUNDS_H

#include "compiler/run/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdlib>
#include <iostream>

namespace kiln::rounds {

[[noreturn]] inline void fail(const llvm::Twine &message) {
  llvm::errs() << message << "\n";
  std::exit(1);
}

inline double getMilliseconds() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// NAME=FILE.npy
inline std::pair<llvm::StringRef, Tensor> readInput(llvm::StringRef argument) {
  auto [name, path] = argument.rsplit('=');
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    fail(path + ": " + file.getError().message());
  llvm::Expected<Tensor> tensor = readNpy((*file)->getBuffer());
  if (!tensor)
    fail(path + ": " + llvm::toString(tensor.takeError()));
  return {name, std::move(*tensor)};
}

/// `run` runs the model once.
template <typename Run> int answerRequests(double start, Run run) {
  run();
  std::cout << "ready " << getMilliseconds() - start << std::endl;
  for (double seconds = 0; std::cin >> seconds;) {
    std::vector<double> times;
    for (double begin = getMilliseconds(), now = begin; times.size() < 3 || now - begin < seconds * 1e3;) {
      double before = getMilliseconds();
      run();
      now = getMilliseconds();
      times.push_back(now - before);
    }
    llvm::sort(times);
    std::cout << (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2 << std::endl;
  }
  return 0;
}

} // namespace kiln::rounds

#endif // KILN_TEST_BENCHMARK_ROUNDS_H
