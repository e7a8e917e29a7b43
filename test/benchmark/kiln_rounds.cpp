//===- kiln_rounds.cpp - Latency of a compiled model, on request -------------===//
//
//   kiln_rounds LIBRARY.so NAME THREADS INPUT=FILE.npy...
//
// Runs the model that was compiled under NAME, with static dimensions, as a program would that loads it: see Rounds.h.
//
//===----------------------------------------------------------------------===//
#include "kiln/runtime.h"
#include "test/benchmark/Rounds.h"
#include <dlfcn.h>

using namespace llvm;
using namespace kiln::rounds;

static kiln::Tensor create(const kiln_tensor_info &info) {
  Expected<kiln::Tensor> tensor = kiln::Tensor::create(kiln::ElementType(info.element_type), ArrayRef(info.dims, info.rank));
  if (!tensor)
    fail(Twine(info.name) + ": " + toString(tensor.takeError()));
  return std::move(*tensor);
}

int main(int argc, char **argv) {
  if (argc < 4)
    fail("usage: kiln_rounds LIBRARY.so NAME THREADS INPUT=FILE.npy...");
  kiln_pool *pool = nullptr;
  kiln_context context = KILN_CONTEXT_INIT;
  if (int threads = std::atoi(argv[3]); threads > 1) {
    if (kiln_pool_create(threads, &pool))
      fail("cannot start threads");
    kiln_pool_context(pool, &context);
  }
  std::map<std::string, kiln::Tensor> given;
  for (const char *argument : ArrayRef(argv + 4, argc - 4)) {
    auto [name, tensor] = readInput(argument);
    given.emplace(name.str(), std::move(tensor));
  }
  double start = getMilliseconds();
  void *library = dlopen(argv[1], RTLD_NOW);
  std::string name = argv[2];
  auto *info = library ? static_cast<const kiln_model_info *>(dlsym(library, (name + "_info").c_str())) : nullptr;
  using RunFunction = kiln_status (*)(const void *const *, void *const *, void *, const kiln_context *);
  auto run = info ? reinterpret_cast<RunFunction>(dlsym(library, (name + "_run").c_str())) : nullptr;
  if (!run || info->num_symbols)
    fail(run ? "the model has dynamic dimensions" : dlerror());
  std::vector<kiln::Tensor> outputs;
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
  for (const kiln_tensor_info &input : ArrayRef(info->inputs, info->num_inputs))
    if (auto found = given.find(input.name); found != given.end())
      inputPointers.push_back(found->second.getData());
    else
      fail("no values for input " + Twine(input.name));
  for (const kiln_tensor_info &output : ArrayRef(info->outputs, info->num_outputs)) {
    outputs.push_back(create(output));
    outputPointers.push_back(outputs.back().getData());
  }
  Expected<kiln::Tensor> workspace = kiln::Tensor::create(KILN_ELEMENT_U8, std::max<int64_t>(info->workspace_size, 1));
  if (!workspace)
    fail(toString(workspace.takeError()));
  return answerRequests(start, [&] {
    if (kiln_status status = run(inputPointers.data(), outputPointers.data(), workspace->getData(), &context))
      fail(kiln_status_string(status));
  });
}
