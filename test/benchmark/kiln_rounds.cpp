//===- kiln_rounds.cpp - Latency of a compiled model, on request -------------===//
//
//   kiln_rounds LIBRARY.so NAME THREADS INPUT=FILE.npy... OUTPUT=FILE.npy...
//
// Runs the model that was compiled under NAME as a program would that loads it: see Rounds.h. Says behind the time to the first result how long it
// takes to have all pages of the library, which are mostly weights, mapped. The sizes of dynamic dimensions are those of the inputs; an output that
// depends on them has the size of its file, and one whose size data decide that of its bound.
//
//===----------------------------------------------------------------------===//
#include "test/benchmark/LoadedLibrary.h"
#include "test/benchmark/Rounds.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln::rounds;

/// Milliseconds that reading one byte of each page of a file takes.
static double measurePageIn(const char *path) {
  double start = getMilliseconds();
  int file = open(path, O_RDONLY);
  struct stat status = {};
  if (file < 0 || fstat(file, &status))
    fail(std::string(path) + ": cannot read");
  void *bytes = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED)
    fail(std::string(path) + ": cannot map");
  for (int64_t at = 0; at < status.st_size; at += 4096)
    (void)static_cast<const volatile char *>(bytes)[at];
  double end = getMilliseconds();
  munmap(bytes, status.st_size);
  close(file);
  return end - start;
}

/// The same in a process of its own, so that pages the model never reads do not count as its memory.
static double measurePageInApart(const char *path) {
  int ends[2];
  double milliseconds = 0;
  if (pipe(ends))
    fail("cannot make a pipe");
  pid_t child = fork();
  if (child == 0) {
    milliseconds = measurePageIn(path);
    _exit(write(ends[1], &milliseconds, sizeof milliseconds) != sizeof milliseconds);
  }
  close(ends[1]);
  if (child < 0 || read(ends[0], &milliseconds, sizeof milliseconds) != sizeof milliseconds || waitpid(child, nullptr, 0) < 0)
    fail(std::string(path) + ": cannot be read in a child process");
  close(ends[0]);
  return milliseconds;
}

/// Makes the elements of a tensor of strings what the ABI takes.
static void pointToTexts(Input &input) {
  if (input.elementType != 8)
    return;
  input.data = allocate(input.bytes);
  for (size_t i = 0; i < input.texts.size(); ++i)
    reinterpret_cast<kiln_string *>(input.data.get())[i] = {input.texts[i].data(), int64_t(input.texts[i].size())};
}

/// The file of a tensor whose dimensions fit; `role` is for messages.
static const Input &findTensor(const std::vector<Input> &given, const kiln_tensor_info &info, const char *role) {
  for (const Input &input : given)
    if (input.name == info.name && (info.byte_size < 0 ? input.dims.size() == size_t(info.rank) : input.bytes == size_t(info.byte_size)))
      return input;
  fail(std::string("no values of the right size for ") + role + " " + info.name);
}

/// The bytes of an output: those of its file, unless data decide its size within a bound that is a number.
static size_t getOutputSize(const kiln_model_info &info, int index, const std::vector<Input> &given) {
  const kiln_tensor_info &output = info.outputs[index];
  if (output.byte_size >= 0)
    return size_t(output.byte_size);
  // The bytes that strings of other outputs point into: more than the texts of a benchmark take.
  for (int i = 0; i < info.num_sequences; ++i)
    if (info.sequences[i].is_bytes && info.sequences[i].is_output && info.sequences[i].first == index)
      return size_t(64) << 20;
  char *end = nullptr;
  int64_t elements = info.output_bounds ? std::strtoll(info.output_bounds[index], &end, 10) : 0;
  // No element has more bytes than a string.
  return end && !*end ? size_t(elements) * sizeof(kiln_string) : findTensor(given, output, "output").bytes;
}

/// The symbols that are dimensions of inputs, by themselves.
static std::vector<int64_t> readSymbols(const kiln_model_info &info, const std::vector<Input> &given) {
  std::vector<int64_t> sizes(size_t(info.num_symbols), -1);
  for (int i = 0; i < info.num_inputs; ++i)
    for (int axis = 0; info.inputs[i].dim_symbols && axis < info.inputs[i].rank; ++axis)
      if (int symbol = info.inputs[i].dim_symbols[axis]; info.inputs[i].dims[axis] < 0 && symbol >= 0)
        sizes[symbol] = findTensor(given, info.inputs[i], "input").dims[axis];
  for (int symbol = 0; symbol < info.num_symbols - info.num_computed; ++symbol)
    if (sizes[symbol] < 0)
      fail(std::string("no input has the dimension ") + info.symbols[symbol].name);
  return sizes;
}

int main(int argc, char **argv) {
  if (argc < 4)
    fail("usage: kiln_rounds LIBRARY.so NAME THREADS INPUT=FILE.npy... OUTPUT=FILE.npy...");
  std::vector<Input> given;
  for (int i = 4; i < argc; ++i)
    given.push_back(readInput(argv[i]));
  for (Input &input : given)
    pointToTexts(input);
  measurePageInApart(argv[1]); // the file is in memory from here on
  std::string pageIn = " " + std::to_string(measurePageInApart(argv[1]));
  double start = getMilliseconds();
  kiln_pool *pool = nullptr;
  kiln_context context = KILN_CONTEXT_INIT;
  if (int threads = std::atoi(argv[3]); threads > 1) {
    if (kiln_pool_create(threads, &pool))
      fail("cannot start threads");
    kiln_pool_context(pool, &context);
  }
  std::string error;
  kiln::LoadedLibrary model = kiln::loadLibrary(argv[1], argv[2], error, /*sizes=*/true);
  if (!model.run && !model.runSized)
    fail(error);
  std::vector<const void *> inputs;
  inputs.reserve(1); // not NULL where the model has none
  std::vector<void *> outputs;
  std::vector<Buffer> buffers;
  for (int i = 0; i < model.info->num_inputs; ++i)
    inputs.push_back(findTensor(given, model.info->inputs[i], "input").data.get());
  for (int i = 0; i < model.info->num_outputs; ++i)
    outputs.push_back(buffers.emplace_back(allocate(getOutputSize(*model.info, i, given))).get());
  std::vector<int64_t> sizes = readSymbols(*model.info, given);
  void *workspace;
  if (kiln_workspace_create(model.runSized ? model.workspaceSize(sizes.data()) : size_t(model.info->workspace_size), &workspace))
    fail("out of memory");
  auto run = [&] {
    kiln_status status = model.runSized ? model.runSized(sizes.data(), inputs.data(), outputs.data(), workspace, &context)
                                        : model.run(inputs.data(), outputs.data(), workspace, &context);
    if (status)
      fail(kiln_status_string(status));
  };
  return answerRequests(start, run, pageIn);
}
