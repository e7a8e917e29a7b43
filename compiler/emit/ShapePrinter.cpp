//===- ShapePrinter.cpp - Element counts and shapes, as C -------------------===//
#include "compiler/emit/ShapePrinter.h"

#include "dialects/nn/Dims.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace kiln {

/// Both functions of one tensor. A count is asked for before a run, where dimensions may be anything: those that a run refuses have none.
static std::string printTensor(const SignatureTensor &tensor, const std::string &stem, const Signature &signature) {
  std::string head = "(const " + signature.name + "_dims *dims", count, shape;
  for (auto [axis, dim] : llvm::enumerate(tensor.dims)) {
    std::string size = dimText(dim, signature, "dims->");
    count += (axis ? " * (size_t)(" : "(size_t)(") + size + ")";
    shape += "  shape[" + std::to_string(axis) + "] = " + size + ";\n";
  }
  return "/* " + makeCommentText(tensor.onnxName) + ": " + makeCommentText(shapeText(tensor, signature)) + " */\nstatic inline size_t " + stem + "_count" +
         head + ") {\n  return " + signature.name + "_workspace_size(dims) == SIZE_MAX ? SIZE_MAX : " + count + ";\n}\nstatic inline void " + stem + "_shape" +
         head + ", int64_t shape[" + std::to_string(tensor.dims.size()) + "]) {\n" + shape + "}\n";
}

std::string printShapeFunctions(const Signature &signature, NameScope &names) {
  std::string text;
  for (auto *tensors : {&signature.inputs, &signature.outputs})
    for (const SignatureTensor &tensor : *tensors)
      if (llvm::any_of(tensor.dims, [](AffineExpr dim) { return !nn::getConstantDim(dim); }))
        text += printTensor(tensor, names.unique(signature.name + "_" + tensor.field), signature);
  if (text.empty())
    return "";
  std::string computed = signature.isDataSized() ? " Where the size depends on the data, this is that of the run\n * that has written `dims`." : "";
  return "/* Elements and shapes of the tensors of dynamic size. The number of elements is SIZE_MAX for dimensions for which " + signature.name +
         "_workspace_size()\n * is." + computed + " */\n" + text + "\n";
}

} // namespace kiln
