//===- Program.h - A model as a program of its own, run by a command --------===//
//
// For machines other than this one. The objects of a model and a small program around them, which printRunner() writes, are linked without a C library. A
// command such as `qemu-aarch64` runs it once for each request: the request is its standard input, the answer its standard output. A microcontroller has
// neither; the words `{request}` and `{answer}` in a command stand for the paths of files with both.
//
// Numbers are 64 bits wide, the lowest byte first. A text is its length, -1 for none, and its bytes. A tensor of strings is its number of elements and the
// text of each, any other its number of bytes and its bytes. Requests, by their first number, and their answers:
//   0 description                                                          the table NAME_info (readModelTable)
//   1 workspace size: dims                                                 the bytes
//   2 run: runs, profiled runs, bytes of weights, dims, weights,           status, which guards are intact, dims, outputs without their sizes,
//          pictures, inputs, bytes of each output                          nanoseconds of each run, kernels if any run is profiled
// Pictures are their number and, for each, status, height, width, the number of bytes and these. Where the model wants one more than there are, the answer
// is -1, format, channels, the largest height and width, and the number of the file's bytes and these; the request is made again with the picture decoded.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_RUN_PROGRAM_H
#define KILN_COMPILER_RUN_PROGRAM_H

#include "compiler/run/Board.h"
#include "kiln/abi.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <vector>

namespace kiln {

/// A kernel in the profiled runs, with sums over its calls and the time of the shortest one.
struct LaunchTime {
  std::string name, nodes, algorithm;
  int64_t calls, nanoseconds, least, flops, bytes;
};

/// What a request asks for beside one run's results.
struct RunCounts {
  int64_t runs = 1, profiled = 0;
};

/// The times that a run reports.
struct RunTimes {
  std::vector<int64_t> nanoseconds;
  std::vector<LaunchTime> launches;
};

/// Writes requests.
class RequestWriter {
public:
  void addNumber(int64_t number) { bytes.append(reinterpret_cast<const char *>(&number), sizeof(number)); }
  void addBytes(const void *data, size_t size) { bytes.append(static_cast<const char *>(data), size); }
  llvm::StringRef text() const { return bytes; }

private:
  std::string bytes;
};

/// Reads answers. What is missing reads as zero and makes the answer broken.
class AnswerReader {
public:
  explicit AnswerReader(llvm::StringRef rest) : rest(rest) {}
  int64_t takeNumber();
  llvm::StringRef takeBytes(uint64_t size);
  /// Nothing for no text.
  std::optional<llvm::StringRef> takeText();
  bool isBroken() const { return broken; }

private:
  llvm::StringRef rest;
  bool broken = false;
};

/// A linked program and the command that runs it.
class Program {
public:
  /// Links the objects, those of printRunner() among them. The program is removed with this object.
  static llvm::Expected<std::unique_ptr<Program>> link(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects, const Destination &machine,
                                                       std::vector<std::string> command);
  ~Program();

  /// The answer to a request; an error says how the command ended.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> ask(const RequestWriter &request) const;
  llvm::StringRef getCommand() const { return command.front(); }
  /// The name of the emulator that the command is, whose times are not those of a CPU; empty for another command.
  llvm::StringRef getEmulator() const;
  /// The instructions that the program executes to answer it, where the command is QEMU and its plugin is here; nullopt: nothing counts them.
  llvm::Expected<std::optional<int64_t>> countInstructions(const RequestWriter &request) const;

private:
  Program() = default;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> askBy(llvm::ArrayRef<std::string> command, const RequestWriter &request) const;
  std::string folder, path;
  std::vector<std::string> command;
};

/// The emulator for programs of another machine; an error says what to install.
llvm::Expected<std::vector<std::string>> findEmulator(const Destination &machine);

/// The table in an answer, and the target that the machine has chosen, or null. All that they point to is in the allocator.
struct ModelTable {
  const kiln_model_info *info = nullptr;
  const char *target = nullptr;
};
llvm::Expected<ModelTable> readModelTable(llvm::StringRef answer, llvm::BumpPtrAllocator &allocator);

} // namespace kiln

#endif // KILN_COMPILER_RUN_PROGRAM_H
