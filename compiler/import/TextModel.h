//===- TextModel.h - Models in ONNX's textual syntax --------------------------===//
#ifndef KILN_COMPILER_IMPORT_TEXTMODEL_H
#define KILN_COMPILER_IMPORT_TEXTMODEL_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln::onnx {
class ModelProto;
} // namespace kiln::onnx

namespace kiln::import {

/// Reads a model from the syntax that ONNX's documentation (Syntax.md) defines: a header, a graph and functions. On an error returns false and sets
/// `error`, which begins with the line.
bool parseTextModel(llvm::StringRef text, onnx::ModelProto &model, std::string &error);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_TEXTMODEL_H
