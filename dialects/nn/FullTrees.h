//===- FullTrees.h - Tables of full decision trees -------------------------===//
#ifndef KILN_DIALECTS_NN_FULLTREES_H
#define KILN_DIALECTS_NN_FULLTREES_H

#include "dialects/nn/TreeTables.h"

namespace kiln::nn {

/// Levels that full trees may have, and trees that go down side by side.
inline constexpr int64_t leastFullLevels = 2, mostFullLevels = 12, fullStreams = 8;

/// Words of the table of nodes. Parts of up to six levels hold thresholds, columns, and the numbers of leaves if `holdsLeaves`; before those of all trees come
/// the levels above them. There is room for a multiple of `fullStreams` trees.
int64_t countFullWords(int64_t trees, int64_t levels, bool holdsLeaves);

/// Fills the tables of a forest as full trees, with nodes that lead left for those that are not there. False if they would be several times as large as the
/// forest, or have too many levels. The tests compare f32 in order, and `tables` knows the columns and where NaN goes. The number of a leaf stands in its part
/// if all leaves of each tree give one number to the same target, to be added.
bool fillFullTables(const Forest &forest, int64_t targets, bool isSum, TreeTables &tables);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_FULLTREES_H
