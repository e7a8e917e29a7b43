// Runs a model whose prefix is `model`, in buffers of exactly the size it asks for, so that the sanitizers see every access beside them:
//   run_model DIMS INPUT... -- OUTPUT:BYTES:ROOM...        DIMS: sizes with commas between, or `static`; the others are files of raw elements
// ROOM: the bytes of an output's buffer, which are more than BYTES where only the data tells its size.
// Once on one thread, once on a pool of two, and twice at a time on that pool. All must give the same bytes.
#include "kiln/runtime.h"
#include "model.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Freed {
  void operator()(void *pointer) const { std::free(pointer); }
};
using Buffer = std::unique_ptr<char, Freed>;

std::vector<int64_t> dims;
std::vector<Buffer> inputs;
std::vector<std::string> outputFiles;
std::vector<size_t> outputSizes, outputRooms;

Buffer readFile(const char *path) {
  FILE *file = std::fopen(path, "rb");
  if (!file)
    std::exit(2);
  std::fseek(file, 0, SEEK_END);
  size_t size = static_cast<size_t>(std::ftell(file));
  std::rewind(file);
  Buffer bytes(static_cast<char *>(std::malloc(size)));
  if (std::fread(bytes.get(), 1, size, file) != size)
    std::exit(2);
  std::fclose(file);
  return bytes;
}

std::vector<Buffer> run(const kiln_context *context) {
  std::vector<Buffer> outputs;
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const Buffer &input : inputs)
    from.push_back(input.get());
  for (size_t size : outputRooms) {
    outputs.emplace_back(static_cast<char *>(std::malloc(size)));
    to.push_back(outputs.back().get());
  }
  // A struct of no pointers has one reserved member.
  from.push_back(nullptr);
  to.push_back(nullptr);
  auto *in = reinterpret_cast<const model_inputs *>(from.data());
  auto *out = reinterpret_cast<const model_outputs *>(to.data());
#if DYNAMIC
  std::vector<int64_t> own = dims; // a run may write to them
  auto *sizes = reinterpret_cast<model_dims *>(own.data());
  size_t bytes = model_workspace_size(sizes);
#else
  size_t bytes = model_workspace_size();
#endif
  void *workspace = nullptr;
  if (posix_memalign(&workspace, KILN_ALIGNMENT, bytes ? bytes : 1))
    std::exit(2);
  Buffer owner(static_cast<char *>(workspace));
  std::memset(workspace, 0xAB, bytes);
#if DYNAMIC
  kiln_status status = model_run(sizes, in, out, workspace, context);
#else
  kiln_status status = model_run(in, out, workspace, context);
#endif
  if (status != KILN_STATUS_OK) {
    std::fprintf(stderr, "the model ended with: %s\n", kiln_status_string(status));
    std::exit(3);
  }
  return outputs;
}

void check(const std::vector<Buffer> &first, const std::vector<Buffer> &second, const char *what) {
  for (size_t i = 0; i < outputSizes.size(); ++i)
    if (std::memcmp(first[i].get(), second[i].get(), outputSizes[i]) != 0) {
      std::fprintf(stderr, "%s: output %zu has other bytes\n", what, i);
      std::exit(4);
    }
}

} // namespace

int main(int, char **arguments) {
  char **next = arguments + 1;
  if (std::strcmp(*next, "static") != 0)
    for (char *text = *next; *text; text += *text == ',')
      dims.push_back(std::strtoll(text, &text, 10));
  for (++next; std::strcmp(*next, "--") != 0; ++next)
    inputs.push_back(readFile(*next));
  for (++next; *next; ++next) {
    char *colon = std::strrchr(*next, ':');
    outputRooms.push_back(static_cast<size_t>(std::strtoll(colon + 1, nullptr, 10)));
    *colon = '\0';
    colon = std::strrchr(*next, ':');
    outputFiles.emplace_back(*next, static_cast<size_t>(colon - *next));
    outputSizes.push_back(static_cast<size_t>(std::strtoll(colon + 1, nullptr, 10)));
  }
  kiln_pool *pool = nullptr;
  if (kiln_pool_create(2, &pool) != KILN_STATUS_OK)
    return 2;
  kiln_context context;
  kiln_pool_context(pool, &context);
  std::vector<Buffer> alone = run(nullptr), other;
  check(alone, run(&context), "two threads");
  std::thread thread([&] { other = run(&context); });
  check(alone, run(&context), "two runs at once");
  thread.join();
  check(alone, other, "two runs at once");
  kiln_pool_destroy(pool);
  for (size_t i = 0; i < outputFiles.size(); ++i) {
    FILE *file = std::fopen(outputFiles[i].c_str(), "wb");
    if (!file || std::fwrite(alone[i].get(), 1, outputSizes[i], file) != outputSizes[i])
      return 2;
    std::fclose(file);
  }
}
