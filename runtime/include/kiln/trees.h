// Ensembles of decision trees. Several rows go down a tree side by side, or one row goes down several trees: each step loads a node, compares and adds, without
// a branch, so that the loads of one row hide those of others. dialects/nn/TreeTables.h makes the tables and says what they are.
#ifndef KILN_TREES_H
#define KILN_TREES_H

#include "kiln/vector.h"

namespace kiln {

// Their functions belong to the translation unit: units for several targets meet in one library.
namespace {

// Rows or trees that go down together.
constexpr int tree_streams = 16;

// A number as an integer of the same order: f32 where nodes hold such keys, which are compared faster.
KILN_INLINE uint32_t tree_key(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  // The zeros are equal.
  return bits >> 31 ? bits == 0x80000000u ? bits : ~bits : bits | 0x80000000u;
}

// A node of `Words` words: `next` gives the index, counted from the tree's root, of the node below it that a row takes. Those of one or two words lead to their
// left child what is below the threshold (`Strict`), or not above it. Leaves lead to the left child, themselves: their threshold is NaN or the largest key.
template <int Words, bool Strict, typename T> struct TreeNode;

template <bool Strict, typename T> KILN_INLINE uint32_t goes_right(T value, T threshold) { return uint32_t(Strict ? value >= threshold : value > threshold); }

// The key of a threshold, a column of 16 bits and a left child of 16 bits, whose right sibling is the node behind it.
template <bool Strict> struct TreeNode<1, Strict, uint32_t> {
  static KILN_INLINE uint32_t next(const int64_t *root, uint32_t at, const uint32_t *x) {
    const uint64_t node = uint64_t(root[at]);
    const uint32_t link = uint32_t(node >> 32);
    return (link >> 16) + goes_right<false>(x[link & 0xffff], uint32_t(node));
  }
};

template <typename T> KILN_INLINE T tree_threshold(int64_t word) {
  if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(T, uint32_t(uint64_t(word)));
  else
    return __builtin_bit_cast(T, word);
}

// The same in 32 bits, and thresholds of any type.
template <bool Strict, typename T> struct TreeNode<2, Strict, T> {
  static KILN_INLINE uint32_t next(const int64_t *root, uint32_t at, const T *x) {
    const int64_t *node = root + 2 * int64_t(at);
    const uint64_t link = uint64_t(node[1]);
    return uint32_t(link >> 32) + goes_right<Strict>(x[uint32_t(link)], tree_threshold<T>(node[0]));
  }
};

// Any comparison: four bits behind the column say which of less, equal, greater and unordered go left, and the third word has both children.
template <bool Strict, typename T> struct TreeNode<3, Strict, T> {
  static KILN_INLINE uint32_t next(const int64_t *root, uint32_t at, const T *x) {
    const int64_t *node = root + 3 * int64_t(at);
    const uint64_t test = uint64_t(node[1]), children = uint64_t(node[2]);
    const T value = x[uint32_t(test)], threshold = tree_threshold<T>(node[0]);
    const int outcome = value < threshold ? 0 : value == threshold ? 1 : value > threshold ? 2 : 3;
    return uint32_t(test >> 32 >> outcome & 1 ? children : children >> 32);
  }
};

// What the entry of a tree says.
struct TreeEntry {
  int64_t root, slots, depth, common_depth;
};
KILN_INLINE TreeEntry tree_entry(const int64_t *trees, int64_t tree) {
  return {trees[4 * tree], trees[4 * tree + 1], trees[4 * tree + 2], trees[4 * tree + 3]};
}

// The elements that nodes compare: keys, or copies of the numbers, or those themselves.
template <int Words, typename T> struct TreeElement {
  using type = T;
};
template <> struct TreeElement<1, float> {
  using type = uint32_t;
};

// One step of all streams; what has changed.
template <int Words, bool Strict, typename T, int Streams>
KILN_INLINE uint32_t step_down(const int64_t *const (&roots)[Streams], const T *const (&rows)[Streams], uint32_t (&at)[Streams]) {
  uint32_t moved = 0;
#pragma GCC unroll 16
  for (int i = 0; i < Streams; ++i) {
    uint32_t next = TreeNode<Words, Strict, T>::next(roots[i], at[i], rows[i]);
    // Gathers of vectors take longer than loads on most CPUs, and compilers would choose them.
    __asm__("" : "+r"(next));
    moved |= next ^ at[i];
    at[i] = next;
  }
  return moved;
}

// Where each stream is after `depth` steps. Leaves lead to themselves; trees of many levels are seldom full, so that behind some levels it pays to ask
// whether all streams have come to their leaves.
template <int Words, bool Strict, typename T, int Streams>
KILN_INLINE void descend(const int64_t *const (&roots)[Streams], const T *const (&rows)[Streams], int64_t depth, uint32_t (&at)[Streams]) {
  constexpr int64_t unasked = 10;
  const int64_t full = depth < unasked ? depth : unasked;
#pragma GCC unroll 16
  for (int i = 0; i < Streams; ++i)
    at[i] = 0;
  for (int64_t level = 0; level < full; ++level)
    step_down<Words, Strict>(roots, rows, at);
  for (int64_t level = full; level < depth; ++level)
    if (step_down<Words, Strict>(roots, rows, at) == 0)
      return;
}

enum class TreeSum : int64_t { Add, Min, Max };

// Results of several rows: from one leaf, `targets` numbers; or, in a list, pairs of a target and a number.
template <typename T> struct TreeLeaves {
  const int64_t *lists;
  const T *weights;
  int64_t targets;
  TreeSum sum;

  KILN_INLINE void take(T &into, T weight) const {
    into = sum == TreeSum::Add ? into + weight : sum == TreeSum::Min ? (weight < into ? weight : into) : (weight > into ? weight : into);
  }
  KILN_INLINE void operator()(int64_t slot, T *out) const {
    if (targets == 1 && !lists) {
      take(*out, weights[slot]);
    } else if (!lists) {
      for (int64_t j = 0; j < targets; ++j)
        take(out[j], weights[slot * targets + j]);
    } else {
      // Behind all targets of all lists, a word for each slot has the begin of its list and the length.
      const uint64_t list = uint64_t(lists[slot]);
      const int64_t begin = int64_t(list >> 24);
      for (int64_t i = begin; i < begin + int64_t(list & 0xffffff); ++i)
        take(out[lists[i]], weights[i]);
    }
  }
};

// Copies a row so that comparisons need not ask for NaN: one that goes right is the largest number, and one that goes left the smallest. The copy with
// those that go left stands behind the other if `missing` is 2.
template <typename T, typename Row> KILN_INLINE void stage_row(const T *x, int64_t columns, int64_t missing, Row *to) {
  constexpr bool is_key = !__is_same(T, Row);
  const T large = T(__builtin_inf());
  const auto stage = [&](int64_t i, bool goes_left) {
    if constexpr (is_key)
      return Row(x[i] == x[i] ? tree_key(x[i]) : goes_left ? 0u : ~0u);
    else
      return x[i] == x[i] ? x[i] : goes_left ? -large : large;
  };
  for (int64_t i = 0; i < columns; ++i)
    to[i] = stage(i, missing == 1);
  for (int64_t i = 0; i < (missing == 2 ? columns : 0); ++i)
    to[columns + i] = stage(i, true);
}

// What all tasks have in common.
template <int Words, bool Strict, typename T> struct TreeRows {
  using Row = typename TreeElement<Words, T>::type;
  const int64_t *nodes, *trees;
  TreeLeaves<T> leaves;

  // `count` rows go down the trees [first, last), one tree after the other.
  void down_each(const Row *x, int64_t stride, int64_t count, int64_t first, int64_t last, T *out, int64_t out_stride) const {
    for (int64_t tree = first; tree < last; ++tree) {
      const TreeEntry entry = tree_entry(trees, tree);
      const int64_t *const root = nodes + entry.root;
      for (int64_t begin = 0; begin < count; begin += tree_streams) {
        const int64_t *roots[tree_streams];
        const Row *rows[tree_streams];
        uint32_t at[tree_streams];
        for (int i = 0; i < tree_streams; ++i) {
          const int64_t row = begin + i < count ? begin + i : count - 1;
          roots[i] = root, rows[i] = x + row * stride;
        }
        descend<Words, Strict>(roots, rows, entry.depth, at);
        for (int i = 0; i < tree_streams && begin + i < count; ++i)
          leaves(entry.slots + at[i], out + (begin + i) * out_stride);
      }
    }
  }

  // One row goes down all of them, several side by side; what they give is added in their order.
  void down_all(const Row *x, int64_t first, int64_t last, T *out) const {
    for (int64_t begin = first; begin < last; begin += tree_streams) {
      const int64_t *roots[tree_streams];
      const Row *rows[tree_streams];
      int64_t slots[tree_streams];
      uint32_t at[tree_streams];
      const int64_t depth = trees[4 * begin + 3];
      for (int i = 0; i < tree_streams; ++i) {
        const TreeEntry entry = tree_entry(trees, begin + i < last ? begin + i : begin);
        roots[i] = nodes + entry.root, slots[i] = entry.slots, rows[i] = x;
      }
      descend<Words, Strict>(roots, rows, depth, at);
      for (int i = 0; i < tree_streams && begin + i < last; ++i)
        leaves(slots[i] + at[i], out);
    }
  }
};

} // namespace

// The sums over a block of trees, for the rows of one task: task t has block t % blocks and rows from t / blocks * task_rows on.
template <typename T> struct TreeTask {
  int64_t begin, end, first, last, targets, stride, block;
  T initial;

  TreeTask(int64_t task, int64_t count, int64_t task_rows, int64_t blocks, int64_t block_trees, int64_t all_trees, int64_t targets, TreeSum sum)
      : begin(task / blocks * task_rows), end(begin + task_rows < count ? begin + task_rows : count), first(task % blocks * block_trees),
        last(first + block_trees < all_trees ? first + block_trees : all_trees), targets(targets), stride(blocks * targets), block(task % blocks),
        initial(T(sum == TreeSum::Add ? 0.0 : sum == TreeSum::Min ? __builtin_inf() : -__builtin_inf())) {}

  KILN_INLINE T *result(T *out, int64_t row) const { return out + row * stride + block * targets; }
  KILN_INLINE void start(T *out, int64_t row) const {
    for (int64_t j = 0; j < targets; ++j)
      result(out, row)[j] = initial;
  }
};

// `width` is how many columns the trees read of a row's `columns`. The scratch has room for `group` rows.
template <int Words, bool Strict, typename T>
static inline void tree_ensemble(const T *x, const int64_t *nodes, const int64_t *trees, const int64_t *lists, const T *weights, T *out, T *scratch,
                                 int64_t scratch_start, int64_t task, int64_t count, int64_t columns, int64_t task_rows, int64_t group, int64_t blocks,
                                 int64_t block_trees, int64_t all_trees, int64_t targets, int64_t sum, int64_t is_listed, int64_t width, int64_t missing) {
  using Row = typename TreeElement<Words, T>::type;
  const TreeRows<Words, Strict, T> ensemble{nodes, trees, {is_listed ? lists : nullptr, weights, targets, TreeSum(sum)}};
  const TreeTask<T> of(task, count, task_rows, blocks, block_trees, all_trees, targets, TreeSum(sum));
  const int64_t staged = missing == 2 ? 2 * width : width;
  Row *copies = reinterpret_cast<Row *>(scratch + scratch_start);
  for (int64_t row = of.begin; row < of.end; row += group) {
    const int64_t rows = row + group < of.end ? group : of.end - row;
    for (int64_t i = 0; i < rows; ++i)
      of.start(out, row + i);
    const T *from = x + row * columns;
    if constexpr (Words < 3)
      for (int64_t i = 0; i < rows; ++i)
        stage_row(from + i * columns, width, missing, copies + i * staged);
    const Row *taken = copies;
    if constexpr (Words == 3)
      taken = from;
    const int64_t stride = Words < 3 ? staged : columns;
    if (rows >= tree_streams)
      ensemble.down_each(taken, stride, rows, of.first, of.last, of.result(out, row), of.stride);
    else
      for (int64_t i = 0; i < rows; ++i)
        ensemble.down_all(taken + i * stride, of.first, of.last, of.result(out, row + i));
  }
}

} // namespace kiln

#endif // KILN_TREES_H
