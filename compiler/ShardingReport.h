//===- ShardingReport.h - How a model is cut for its ranks, for people ------===//
#ifndef KILN_COMPILER_SHARDINGREPORT_H
#define KILN_COMPILER_SHARDINGREPORT_H

#include "compiler/Compile.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace kiln {

/// Prints to stderr how the operations of a sharded model are cut, what is not and why, and what a rank has of the weights. Nothing for other models.
void printSharding(const Compilation &compilation);

/// The same; nothing if the model is not sharded.
std::optional<llvm::json::Object> shardingToJson(const Compilation &compilation);

} // namespace kiln

#endif // KILN_COMPILER_SHARDINGREPORT_H
