//===- LoadedLibrary.h - A compiled model in this process ------------------===//
#ifndef KILN_TEST_BENCHMARK_LOADEDLIBRARY_H
#define KILN_TEST_BENCHMARK_LOADEDLIBRARY_H

#include "kiln/runtime.h"
#include <dlfcn.h>
#include <string>

namespace kiln {

/// A model of a shared library: `run` where all of its dimensions are static, else the two functions that take the sizes of its symbols first.
struct LoadedLibrary {
  const kiln_model_info *info = nullptr;
  kiln_status (*run)(const void *const *inputs, void *const *outputs, void *workspace, const kiln_context *context) = nullptr;
  kiln_status (*runSized)(int64_t *dims, const void *const *inputs, void *const *outputs, void *workspace, const kiln_context *context) = nullptr;
  size_t (*workspaceSize)(const int64_t *dims) = nullptr;
};

/// Loads the model that was compiled under `name`. On failure `run` is null and `error` says why. So it is with dynamic dimensions, unless the caller
/// `sizes` them: then `runSized` is there instead.
inline LoadedLibrary loadLibrary(const char *path, const std::string &name, std::string &error, bool sizes = false) {
  LoadedLibrary model;
  void *library = dlopen(path, RTLD_NOW);
  model.info = library ? static_cast<const kiln_model_info *>(dlsym(library, (name + "_info").c_str())) : nullptr;
  void *run = model.info ? dlsym(library, (name + "_run").c_str()) : nullptr;
  if (!run)
    error = dlerror();
  else if (model.info->num_symbols && !sizes)
    error = "the model has dynamic dimensions";
  else if (model.info->num_symbols) {
    model.runSized = reinterpret_cast<decltype(model.runSized)>(run);
    model.workspaceSize = reinterpret_cast<decltype(model.workspaceSize)>(dlsym(library, (name + "_workspace_size").c_str()));
  }
  else
    model.run = reinterpret_cast<decltype(model.run)>(run);
  return model;
}

} // namespace kiln

#endif // KILN_TEST_BENCHMARK_LOADEDLIBRARY_H
