//===- WayOut.cpp - What a user can do about an operator ----------------------===//
#include "compiler/import/WayOut.h"

using namespace llvm;

namespace kiln::import {

StringRef findWayOut(StringRef domain) {
  if (domain == "com.microsoft" || domain == "com.microsoft.nchwc" || domain == "com.ms.internal.nhwc")
    return "if ONNX Runtime's optimiser has put it there, compile the file from before it; otherwise export the model with operators of ONNX";
  if (domain.starts_with("org.pytorch"))
    return "export the model with torch.onnx.export(..., dynamo=True), which writes operators of ONNX";
  if (domain.empty() || domain == "ai.onnx.ml")
    return "export the model with other operators, or give this one as a model-local function";
  return "define it in a file for --ops, give its ONNX function by --functions, or leave it to your program with --delegate";
}

} // namespace kiln::import
