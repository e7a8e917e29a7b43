//===- ModelCheck.h - Whether a model keeps to the format -------------------===//
#ifndef KILN_COMPILER_IMPORT_MODELCHECK_H
#define KILN_COMPILER_IMPORT_MODELCHECK_H

#include "compiler/import/Diagnostics.h"
#include "compiler/import/onnx.pb.h"
#include "llvm/ADT/StringMap.h"

namespace kiln::import {

class ModelFile;

/// Checks what the format demands of the whole model, also of what no import reads: branches that are not taken, functions that nobody calls,
/// initializers without a use. Names, order, counts and attributes of nodes, tensors and declared types. Operators that the table does not
/// know are passed over.
llvm::LogicalResult checkModel(ModelFile &file, Diagnostics &diagnostics);

/// The name by which nodes of this domain and operator call a function.
std::string functionKey(llvm::StringRef domain, llvm::StringRef name, llvm::StringRef overload);

/// The versions that a model or function imports, by domain; where one stands there twice they are the same.
llvm::StringMap<int64_t> readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports);

/// The default domain has two names.
inline llvm::StringRef canonicalDomain(llvm::StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_MODELCHECK_H
