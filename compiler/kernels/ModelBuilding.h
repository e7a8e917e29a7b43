//===- ModelBuilding.h - The small model of a kernel ---------------------------===//
#ifndef KILN_COMPILER_KERNELS_MODELBUILDING_H
#define KILN_COMPILER_KERNELS_MODELBUILDING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>

namespace kiln::onnx {
class ModelProto;
class NodeProto;
} // namespace kiln::onnx

namespace kiln {

struct KernelTensor;

/// Makes an ONNX model of one graph.
class ModelBuilder {
public:
  ModelBuilder();
  ~ModelBuilder();

  /// Names of dimensions become symbols, numbers stay numbers.
  void addInput(const KernelTensor &tensor);
  void addOutput(const std::string &name);
  /// A node of an operator, `DOMAIN.Operator` outside of ONNX's own domain, which is then of that version.
  onnx::NodeProto &addNode(llvm::StringRef op, int64_t domainVersion = 1);
  void addInteger(onnx::NodeProto &node, llvm::StringRef name, int64_t value);
  void addReal(onnx::NodeProto &node, llvm::StringRef name, double value);
  void addString(onnx::NodeProto &node, llvm::StringRef name, llvm::StringRef value);
  void addIntegers(onnx::NodeProto &node, llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  /// A constant, by its name: a vector of i64, or a number of one of f32, f64, i64, i32, i8 and u8. Empty for a number that is none of the type.
  std::string addConstant(llvm::ArrayRef<int64_t> values);
  std::string addConstant(llvm::StringRef number, int element);
  std::string serialize() const;

private:
  std::unique_ptr<onnx::ModelProto> model;
};

} // namespace kiln

#endif // KILN_COMPILER_KERNELS_MODELBUILDING_H
