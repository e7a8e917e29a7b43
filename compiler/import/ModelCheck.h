//===- ModelCheck.h - Checking models against the standard -------------------===//
#ifndef KILN_COMPILER_IMPORT_MODELCHECK_H
#define KILN_COMPILER_IMPORT_MODELCHECK_H

#include "compiler/import/Diagnostics.h"
#include "compiler/import/onnx.pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace kiln::import {

class ModelFile;

/// Checks the whole model against the standard, including parts that are not imported: branches that are not taken, functions that are not called,
/// unused initializers. It checks names, order, counts and attributes of nodes, tensors and declared types, but not operators that are missing in the
/// table.
llvm::LogicalResult checkModel(ModelFile &file, Diagnostics &diagnostics);

/// Checks the functions of a file, which need not have a graph.
llvm::LogicalResult checkFunctions(ModelFile &file, Diagnostics &diagnostics);

/// Calls the function for each of these nodes and for those in their bodies.
void forEachNode(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, llvm::function_ref<void(const onnx::NodeProto &)> visit);

/// The name by which nodes of this domain and operator call a function.
std::string functionKey(llvm::StringRef domain, llvm::StringRef name, llvm::StringRef overload);

/// The versions that a model or function imports, by domain. Repeated domains must have the same version.
llvm::StringMap<int64_t> readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports);

/// The default domain has two names.
inline llvm::StringRef canonicalDomain(llvm::StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_MODELCHECK_H
