//===- WebFiles.h - A model's files for JavaScript ---------------------------===//
#ifndef KILN_COMPILER_EMIT_WEB_WEBFILES_H
#define KILN_COMPILER_EMIT_WEB_WEBFILES_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// The model for one target: a module of WebAssembly.
struct WebForm {
  std::string name;
  std::string module;
  /// The number of features that an engine must have; the form with the most is the best.
  size_t features;
};

/// NAME.wasm holds the modules of all forms and the weights, each as a custom section: it is the bytes before the weights, which come last, so that they are
/// written as they are made. Engines load it as a module without code; NAME.mjs takes the sections out.
std::string makeWebContainer(llvm::ArrayRef<WebForm> forms, uint64_t weightsBytes);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_WEB_WEBFILES_H
