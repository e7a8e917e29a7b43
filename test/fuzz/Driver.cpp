//===- Driver.cpp - A fuzz target without libFuzzer ------------------------===//
//
// For the build that everybody has: each seed, then mutants of the seeds, always the same ones. What ends the process leaves its input in a file.
//
//===----------------------------------------------------------------------===//
#include "test/fuzz/Target.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

using namespace llvm;

using Bytes = std::vector<uint8_t>;

/// For the signal handler, which may not allocate.
static const uint8_t *current;
static size_t currentSize;
static constexpr char faultPath[] = "fuzz-fault.input";

static void keepInput(int number) {
  int file = open(faultPath, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  bool written = file >= 0 && write(file, current, currentSize) == ssize_t(currentSize);
  constexpr char message[] = "the input is in fuzz-fault.input\n";
  if (written && write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
    _exit(1);
  signal(number, SIG_DFL);
  raise(number);
}

/// An input may take ten seconds of CPU time. Waiting does not count: the tests share the machine.
static void run(const Bytes &input) {
  constexpr itimerval slowest = {{0, 0}, {10, 0}};
  setitimer(ITIMER_PROF, &slowest, nullptr);
  current = input.data();
  currentSize = input.size();
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

/// Changes, inserts, takes out or repeats a few bytes, or goes on as another seed does.
static Bytes mutate(Bytes bytes, const std::vector<Bytes> &seeds, std::mt19937_64 &random) {
  static constexpr uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff, '(', ')', '<', '>', '[', '-', '0', '9', '%', '"'};
  auto below = [&](size_t count) { return count ? random() % count : 0; };
  for (size_t step = 0, steps = 1 + below(4); step < steps; ++step) {
    size_t at = below(bytes.size() + 1), length = std::min<size_t>(1 + below(16), bytes.size() - at);
    auto place = bytes.begin() + at;
    switch (below(6)) {
    case 0:
      if (at < bytes.size())
        *place ^= 1 << below(8);
      break;
    case 1:
      if (at < bytes.size())
        *place = edges[below(std::size(edges))];
      break;
    case 2:
      bytes.insert(place, edges[below(std::size(edges))]);
      break;
    case 3:
      bytes.erase(place, place + length);
      break;
    case 4: {
      Bytes part(place, place + length);
      bytes.insert(bytes.begin() + below(bytes.size() + 1), part.begin(), part.end());
      break;
    }
    default: {
      const Bytes &other = seeds[below(seeds.size())];
      size_t from = below(other.size());
      bytes.resize(at);
      bytes.insert(bytes.end(), other.begin() + from, other.end());
    }
    }
  }
  return bytes;
}

static std::vector<Bytes> readSeeds(int argc, char **argv) {
  std::vector<Bytes> seeds;
  for (int i = 3; i < argc; ++i)
    if (auto buffer = MemoryBuffer::getFile(argv[i]); buffer && (*buffer)->getBufferSize() <= 1 << 20)
      seeds.emplace_back((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
  return seeds;
}

int main(int argc, char **argv) {
  unsigned mutants = 0, seed = 0;
  if (argc < 4 || StringRef(argv[1]).getAsInteger(10, mutants) || StringRef(argv[2]).getAsInteger(10, seed)) {
    errs() << "usage: " << argv[0] << " MUTANTS SEED FILE...\nRuns the files, then mutants of them; SEED chooses which.\n";
    return 2;
  }
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF})
    signal(number, keepInput);
  std::vector<Bytes> seeds = readSeeds(argc, argv);
  std::mt19937_64 random(seed);
  for (const Bytes &input : seeds)
    run(input);
  for (unsigned mutant = 0; !seeds.empty() && mutant < mutants; ++mutant)
    run(mutate(seeds[random() % seeds.size()], seeds, random));
  outs() << seeds.size() << " seeds and " << mutants << " mutants, no fault\n";
  return seeds.empty();
}
