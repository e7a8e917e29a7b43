// Ensembles of full decision trees of few levels. The place of a node says where the nodes below it are, so that a step is a load of a threshold and of
// a column, a comparison of integers and an addition. Eight trees go down side by side, because a step waits for the one before it. Trees of more than six
// levels are parts of six levels, which lie within a page of memory, below the levels above them: walks that touch many pages wait for their addresses.
// dialects/nn/FullTrees.h makes the tables.
#ifndef KILN_FULL_TREES_H
#define KILN_FULL_TREES_H

#include "kiln/trees.h"

namespace kiln {
namespace {

constexpr int full_streams = 8;

// What a table of words of 64 bits holds.
typedef uint32_t __attribute__((may_alias)) tree_word32;
typedef uint16_t __attribute__((may_alias)) tree_word16;
typedef float __attribute__((may_alias)) tree_float;

// Levels of a tree: 2^Levels thresholds, as many columns, and if it holds leaves, their numbers. Node 1 is the root, and nodes 2n and 2n + 1 are below node n.
template <int Levels, bool HoldsLeaves> struct FullPart {
  static constexpr int64_t nodes = int64_t(1) << Levels, words = (nodes * (HoldsLeaves ? 10 : 6) + 7) / 8;

  static KILN_INLINE uint32_t below(const int64_t *table, uint32_t at, const uint32_t *keys) {
    const uint32_t threshold = reinterpret_cast<const tree_word32 *>(table)[at];
    const uint32_t column = reinterpret_cast<const tree_word16 *>(table)[2 * nodes + at];
    uint32_t next = 2 * at + uint32_t(threshold < keys[column]);
    // Gathers of vectors take longer than loads on most CPUs, and compilers would choose them.
    __asm__("" : "+r"(next));
    return next;
  }
  static KILN_INLINE float leaf(const int64_t *table, uint32_t at) { return reinterpret_cast<const tree_float *>(table)[nodes * 3 / 2 + at]; }

  // The leaves, from 0 on, that eight walks reach.
  static KILN_INLINE void descend(const int64_t *const (&tables)[full_streams], const uint32_t *keys, uint32_t (&at)[full_streams]) {
#pragma GCC unroll 8
    for (int i = 0; i < full_streams; ++i)
      at[i] = 1;
#pragma GCC unroll 8
    for (int level = 0; level < Levels; ++level) {
#pragma GCC unroll 8
      for (int i = 0; i < full_streams; ++i)
        at[i] = below(tables[i], at[i], keys);
    }
#pragma GCC unroll 8
    for (int i = 0; i < full_streams; ++i)
      at[i] -= uint32_t(nodes);
  }
};

// Trees of `Levels` levels: the upper levels of all trees, if there are any, then the parts below them.
template <int Levels, bool HoldsLeaves> struct FullTrees {
  static constexpr int above = Levels > 6 ? Levels - 6 : 0;
  using Upper = FullPart<above, false>;
  using Lower = FullPart<Levels - above, HoldsLeaves>;

  const int64_t *nodes, *lower;

  // The table has room for a multiple of eight trees.
  FullTrees(const int64_t *nodes, int64_t trees) : nodes(nodes), lower(nodes + (above ? (trees + 7) / 8 * 8 * Upper::words : 0)) {}

  // Fetches what every walk through eight trees reads first.
  KILN_INLINE void fetch(int64_t tree) const {
    constexpr int64_t words = above ? Upper::words : Lower::words, part = above ? Upper::nodes : Lower::nodes;
#pragma GCC unroll 8
    for (int i = 0; i < full_streams; ++i) {
      const int64_t *const table = nodes + (tree + i) * words;
      __builtin_prefetch(table), __builtin_prefetch(table + part / 2);
    }
  }

  // The leaves that a row reaches in eight trees: their indices within their trees, and what holds their numbers.
  KILN_INLINE void descend(int64_t tree, const uint32_t *keys, uint32_t (&leaves)[full_streams], float (&numbers)[full_streams]) const {
    const int64_t *tables[full_streams];
    uint32_t parts[full_streams];
    if constexpr (above > 0) {
#pragma GCC unroll 8
      for (int i = 0; i < full_streams; ++i)
        tables[i] = nodes + (tree + i) * Upper::words;
      Upper::descend(tables, keys, parts);
    }
#pragma GCC unroll 8
    for (int i = 0; i < full_streams; ++i) {
      parts[i] = above ? parts[i] : 0;
      tables[i] = lower + (((tree + i) << above) + parts[i]) * Lower::words;
    }
    Lower::descend(tables, keys, leaves);
#pragma GCC unroll 8
    for (int i = 0; i < full_streams; ++i) {
      numbers[i] = HoldsLeaves ? Lower::leaf(tables[i], leaves[i]) : 0;
      leaves[i] += parts[i] << (Levels - above);
    }
  }
};

} // namespace

// tree_ensemble for full trees. An entry of `trees` is the target of all leaves and the slot of the first one.
template <int Levels, bool HoldsLeaves>
static inline void full_trees(const float *x, const int64_t *nodes, const int64_t *trees, const int64_t *lists, const float *weights, float *out,
                              float *scratch, int64_t scratch_start, int64_t task, int64_t count, int64_t columns, int64_t task_rows,
                              int64_t group, int64_t blocks, int64_t block_trees, int64_t all_trees, int64_t targets, int64_t sum,
                              int64_t is_listed, int64_t width, int64_t missing) {
  const FullTrees<Levels, HoldsLeaves> ensemble(nodes, all_trees);
  const TreeLeaves<float> given{is_listed ? lists : nullptr, weights, targets, TreeSum(sum)};
  const TreeTask<float> rows(task, count, task_rows, blocks, block_trees, all_trees, targets, TreeSum(sum));
  const int64_t staged = missing == 2 ? 2 * width : width;
  uint32_t *keys = reinterpret_cast<uint32_t *>(scratch + scratch_start);
  for (int64_t row = rows.begin; row < rows.end; row += group) {
    const int64_t last_row = row + group < rows.end ? row + group : rows.end;
    for (int64_t i = row; i < last_row; ++i) {
      stage_row(x + i * columns, width, missing, keys + (i - row) * staged);
      rows.start(out, i);
    }
    for (int64_t tree = rows.first; tree < rows.last; tree += full_streams)
      for (int64_t i = row; i < last_row; ++i) {
        if (i == row)
          ensemble.fetch(tree + full_streams);
        uint32_t leaves[full_streams];
        float numbers[full_streams];
        ensemble.descend(tree, keys + (i - row) * staged, leaves, numbers);
        float *result = rows.result(out, i);
        const int64_t present = rows.last - tree;
        if (HoldsLeaves && targets == 1) {
          float all = *result;
#pragma GCC unroll 8
          for (int k = 0; k < full_streams; ++k)
            all = k < present ? all + numbers[k] : all;
          *result = all;
          continue;
        }
        for (int k = 0; k < full_streams && k < present; ++k) {
          const int64_t *entry = trees + 4 * (tree + k);
          if (HoldsLeaves)
            result[entry[0]] += numbers[k];
          else
            given(entry[1] + leaves[k], result);
        }
      }
  }
}

} // namespace kiln

#endif // KILN_FULL_TREES_H
