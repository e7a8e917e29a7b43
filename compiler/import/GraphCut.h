//===- GraphCut.h - The largest convex groups of a graph --------------------===//
#ifndef KILN_COMPILER_IMPORT_GRAPHCUT_H
#define KILN_COMPILER_IMPORT_GRAPHCUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace kiln::import {

/// Joins connected nodes of one kind into groups. Each group is convex: no path leaves it and comes back. No two of them that are connected could be joined.
/// `operands` lists for each node the nodes that it reads, which come before it. `kinds` has a number for nodes that may be in groups, and -1 for others,
/// which are groups by themselves. Returns the groups in an order in which each can run, their nodes in ascending order.
std::vector<std::vector<unsigned>> cutIntoGroups(llvm::ArrayRef<llvm::SmallVector<unsigned, 4>> operands, llvm::ArrayRef<int> kinds);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_GRAPHCUT_H
