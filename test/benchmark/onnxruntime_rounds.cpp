//===- onnxruntime_rounds.cpp - Latency of a model in ONNX Runtime, on request ----===//
//
//   onnxruntime_rounds LIBRARY MODEL.onnx THREADS INPUT=FILE.npy...
//
// See Rounds.h. LIBRARY is libonnxruntime.so.1, of any release from 1.20 on. Its C API is called through its table of functions, whose places
// are fixed: the table only grows at its end.
//
//===----------------------------------------------------------------------===//
#include "test/benchmark/Rounds.h"
#include <cstring>
#include <dlfcn.h>

using namespace kiln::rounds;

namespace {

/// Opaque objects of the API, and what every fallible function returns: null, or a status with a text.
using Object = void *;
using Status = void *;

/// The places of the functions used here, with their parameters.
enum Slot {
  GetErrorMessage = 2,
  CreateEnv = 3,
  CreateSession = 7,
  Run = 9,
  CreateSessionOptions = 10,
  SetIntraOpNumThreads = 24,
  SessionGetOutputCount = 31,
  SessionGetOutputName = 37,
  CreateTensor = 48,
  CreateTensorWithData = 49,
  FillStrings = 52,
  CreateCpuMemoryInfo = 69,
  GetDefaultAllocator = 78,
  ReleaseValue = 96
};

class Session {
public:
  Session(const char *library, const char *model, int threads);
  void addInput(const Input &input);
  void run();

private:
  template <typename... Args> void call(Slot slot, Args... args) const {
    if (Status status = reinterpret_cast<Status (*)(Args...)>(table[slot])(args...))
      fail(reinterpret_cast<const char *(*)(Status)>(table[GetErrorMessage])(status));
  }

  void *const *table = nullptr;
  Object session = nullptr, memory = nullptr, allocator = nullptr;
  std::vector<const char *> names;
  std::vector<Object> values, results;
  std::vector<char *> outputs;
};

} // namespace

Session::Session(const char *library, const char *model, int threads) {
  struct ApiBase {
    void *const *(*getApi)(uint32_t version);
  };
  void *handle = dlopen(library, RTLD_NOW);
  void *base = handle ? dlsym(handle, "OrtGetApiBase") : nullptr;
  if (!base)
    fail(dlerror());
  table = reinterpret_cast<const ApiBase *(*)()>(base)()->getApi(20);
  Object env = nullptr, options = nullptr;
  call(CreateEnv, int(3), "kiln", &env);
  call(CreateSessionOptions, &options);
  call(SetIntraOpNumThreads, options, threads);
  call(CreateSession, env, model, options, &session);
  call(CreateCpuMemoryInfo, int(0), int(0), &memory);
  call(GetDefaultAllocator, &allocator);
  size_t count = 0;
  call(SessionGetOutputCount, session, &count);
  outputs.resize(count);
  results.resize(count);
  for (size_t i = 0; i < count; ++i)
    call(SessionGetOutputName, session, i, allocator, &outputs[i]);
}

void Session::addInput(const Input &input) {
  names.push_back(input.name.c_str());
  values.push_back(nullptr);
  if (input.elementType == 8) {
    std::vector<const char *> texts;
    for (const std::string &text : input.texts)
      texts.push_back(text.c_str());
    call(CreateTensor, allocator, input.dims.data(), input.dims.size(), input.elementType, &values.back());
    call(FillStrings, values.back(), texts.data(), texts.size());
    return;
  }
  call(CreateTensorWithData, memory, static_cast<void *>(input.data.get()), input.bytes, input.dims.data(), input.dims.size(), input.elementType,
       &values.back());
}

void Session::run() {
  call(Run, session, Object(nullptr), names.data(), values.data(), values.size(), outputs.data(), outputs.size(), results.data());
  for (Object &result : results) {
    reinterpret_cast<void (*)(Object)>(table[ReleaseValue])(result);
    result = nullptr;
  }
}

int main(int argc, char **argv) {
  if (argc < 4)
    fail("usage: onnxruntime_rounds LIBRARY MODEL.onnx THREADS INPUT=FILE.npy...");
  std::vector<Input> inputs;
  for (int i = 4; i < argc; ++i)
    inputs.push_back(readInput(argv[i]));
  double start = getMilliseconds();
  Session session(argv[1], argv[2], std::atoi(argv[3]));
  for (const Input &input : inputs)
    session.addInput(input);
  return answerRequests(start, [&] { session.run(); });
}
