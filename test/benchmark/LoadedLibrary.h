//===- LoadedLibrary.h - A compiled model in this process ------------------===//
#ifndef KILN_TEST_BENCHMARK_LOADEDLIBRARY_H
#define KILN_TEST_BENCHMARK_LOADEDLIBRARY_H

#include "kiln/runtime.h"
#include <dlfcn.h>
#include <string>

namespace kiln {

/// A model with static dimensions, of a shared library.
struct LoadedLibrary {
  const kiln_model_info *info = nullptr;
  kiln_status (*run)(const void *const *inputs, void *const *outputs, void *workspace, const kiln_context *context) = nullptr;
};

/// Loads the model that was compiled under `name`. On failure `run` is null and `error` says why.
inline LoadedLibrary loadLibrary(const char *path, const std::string &name, std::string &error) {
  LoadedLibrary model;
  void *library = dlopen(path, RTLD_NOW);
  model.info = library ? static_cast<const kiln_model_info *>(dlsym(library, (name + "_info").c_str())) : nullptr;
  void *run = model.info ? dlsym(library, (name + "_run").c_str()) : nullptr;
  if (!run)
    error = dlerror();
  else if (model.info->num_symbols)
    error = "the model has dynamic dimensions";
  else
    model.run = reinterpret_cast<decltype(model.run)>(run);
  return model;
}

} // namespace kiln

#endif // KILN_TEST_BENCHMARK_LOADEDLIBRARY_H
