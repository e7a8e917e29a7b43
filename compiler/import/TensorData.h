//===- TensorData.h - Tensors of the file as constants ----------------------===//
#ifndef KILN_COMPILER_IMPORT_TENSORDATA_H
#define KILN_COMPILER_IMPORT_TENSORDATA_H

#include "compiler/import/Import.h"
#include "compiler/import/ModelFile.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace kiln::onnx {
class SparseTensorProto;
} // namespace kiln::onnx

namespace kiln::import {

/// The element type of an ONNX data type, or null when Kiln has none for it that it computes with.
mlir::Type getElementType(int dataType, mlir::MLIRContext *context);

/// The same, bytes for the types whose elements are codes (NarrowTypes.h), and that of strings.
mlir::Type getStorageType(int dataType, mlir::MLIRContext *context);

/// The data type as ONNX spells it, for messages.
std::string getDataTypeName(int dataType);
/// The bits of an element in a file; 0 for types that Kiln does not know.
int64_t getDataTypeBits(int dataType);

/// The tensor as a constant that borrows its bytes from the file where it can. Null with the reason set when it is malformed or unsupported.
/// Integers of 4 and 2 bits become 8-bit ones.
mlir::ElementsAttr readTensor(const onnx::TensorProto &tensor, ModelFile &file, const Limits &limits, mlir::MLIRContext *context,
                              std::string &reason);

/// The same for a sparse tensor, filled up with zeros.
mlir::ElementsAttr readSparseTensor(const onnx::SparseTensorProto &tensor, ModelFile &file, const Limits &limits,
                                    mlir::MLIRContext *context, std::string &reason);

/// Whether the tensor's data are there, in one field that fits its type, and as many as its dimensions say; else the reason is set. Every tensor
/// of a model is checked before one is read (ModelCheck.h). The indices of a sparse tensor are compared when it is read.
bool checkTensor(const onnx::TensorProto &tensor, ModelFile &file, std::string &reason);
bool checkSparseTensor(const onnx::SparseTensorProto &tensor, ModelFile &file, std::string &reason);

/// Takes data from a file of their own into the tensor, which has been checked; false, with the reason set, if they cannot be read.
bool embedExternal(onnx::TensorProto &tensor, ModelFile &file, std::string &reason);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_TENSORDATA_H
