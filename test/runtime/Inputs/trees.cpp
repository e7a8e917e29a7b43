// Full trees of each number of levels, and the same trees as nodes with links, beside a walk in the plainest way, in two threads that share all tables.
#include "kiln/full_trees.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace {

constexpr int64_t columns = 5, rows = 70, blockTrees = 64, group = 16;
constexpr float infinity = std::numeric_limits<float>::infinity();

uint64_t state = 1;
uint32_t draw() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return uint32_t(state >> 33);
}

// Few numbers, so that many rows equal a threshold: zeros of both signs, infinities, the smallest numbers; rows hold NaN, too.
float drawNumber(bool isRow) {
  const float numbers[] = {0.0f, -0.0f, 1, -1, 2.5f, -2.5f, infinity, -infinity, 1e-45f, -1e-45f, NAN};
  return numbers[draw() % (isRow ? 11 : 10)];
}

struct Forest {
  int levels;
  int64_t trees;
  std::vector<float> thresholds, leaves; // 2^levels of each tree, nodes from 1 on
  std::vector<uint16_t> at;
  std::vector<uint8_t> left; // whether a NaN goes left

  int64_t nodes() const { return int64_t(1) << levels; }
  float walk(int64_t tree, const float *x, int64_t missing) const {
    int64_t node = 1;
    while (node < nodes()) {
      const int64_t i = tree * nodes() + node;
      const float value = x[at[i]];
      const bool nanLeft = missing == 1 || (missing == 2 && left[i]);
      node = 2 * node + (std::isnan(value) ? !nanLeft : value > thresholds[i]);
    }
    return leaves[tree * nodes() + node - nodes()];
  }
};

Forest grow(int levels, int64_t trees) {
  Forest forest{levels, trees, {}, {}, {}, {}};
  for (int64_t i = 0; i < trees * forest.nodes(); ++i) {
    forest.thresholds.push_back(drawNumber(false));
    forest.leaves.push_back(float(int(draw() % 64) - 32) / 8);
    forest.at.push_back(uint16_t(draw() % columns));
    forest.left.push_back(uint8_t(draw() & 1));
  }
  return forest;
}

uint16_t columnOf(const Forest &forest, int64_t i, int64_t missing) { return uint16_t(forest.at[i] + (missing == 2 && forest.left[i] ? columns : 0)); }

template <int Levels> std::vector<int64_t> makeFull(const Forest &forest, int64_t missing) {
  using Full = kiln::FullTrees<Levels, true>;
  constexpr int64_t above = Full::above, inner = Levels - above, parts = int64_t(1) << above;
  const int64_t room = (forest.trees + 7) / 8 * 8, upper = above ? Full::Upper::words : 0;
  std::vector<int64_t> table(room * (upper + parts * Full::Lower::words));
  auto set = [&](int64_t word, int64_t nodes, int64_t node, int64_t from) {
    const uint32_t key = kiln::tree_key(forest.thresholds[from]);
    const uint16_t column = columnOf(forest, from, missing);
    std::memcpy(reinterpret_cast<char *>(&table[word]) + 4 * node, &key, 4);
    std::memcpy(reinterpret_cast<char *>(&table[word]) + 4 * nodes + 2 * node, &column, 2);
  };
  for (int64_t tree = 0; tree < forest.trees; ++tree) {
    const int64_t first = tree * forest.nodes();
    for (int64_t node = 1; above && node < parts; ++node)
      set(tree * upper, parts, node, first + node);
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t word = room * upper + (tree * parts + part) * Full::Lower::words, nodes = int64_t(1) << inner;
      for (int64_t level = 0; level < inner; ++level)
        for (int64_t i = 0; i < int64_t(1) << level; ++i)
          set(word, nodes, (int64_t(1) << level) + i, first + ((parts + part) << level) + i);
      std::memcpy(reinterpret_cast<char *>(&table[word]) + 6 * nodes, &forest.leaves[first + part * nodes], 4 * nodes);
    }
  }
  return table;
}

std::vector<int64_t> makeLinked(const Forest &forest, int64_t missing, std::vector<int64_t> &trees) {
  std::vector<int64_t> table;
  for (int64_t tree = 0; tree < forest.trees; ++tree) {
    const int64_t first = tree * forest.nodes();
    trees.insert(trees.end(), {int64_t(table.size()), first - (forest.nodes() - 1), forest.levels, forest.levels});
    for (int64_t node = 1; node < forest.nodes(); ++node)
      table.push_back(int64_t(uint64_t(kiln::tree_key(forest.thresholds[first + node])) | uint64_t(columnOf(forest, first + node, missing)) << 32 |
                              uint64_t(2 * node - 1) << 48));
  }
  return table;
}

// What all tasks of two threads give; the scratch ends where the memory ends.
template <typename Call> std::vector<float> runTasks(int64_t blocks, Call call) {
  std::vector<float> result(rows * blocks);
  auto work = [&](int64_t from) {
    std::vector<float> scratch(group * 2 * columns);
    for (int64_t task = from; task < blocks; task += 2)
      call(task, result.data(), scratch.data());
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  return result;
}

template <int Levels> bool check(int64_t count) {
  const Forest forest = grow(Levels, count);
  std::vector<float> x(rows * columns);
  for (float &value : x)
    value = drawNumber(true);
  const int64_t blocks = (count + blockTrees - 1) / blockTrees;
  for (int64_t missing = 0; missing < 3; ++missing) {
    std::vector<int64_t> full = makeFull<Levels>(forest, missing), entries(4 * count), linkedEntries;
    std::vector<int64_t> linked = makeLinked(forest, missing, linkedEntries);
    const std::vector<float> one = runTasks(blocks, [&](int64_t task, float *out, float *scratch) {
      kiln::full_trees<Levels, true>(x.data(), full.data(), entries.data(), nullptr, nullptr, out, scratch, 0, task, rows, columns, 1024, group, blocks,
                                     blockTrees, count, 1, 0, 0, columns, missing);
    });
    const std::vector<float> other = runTasks(blocks, [&](int64_t task, float *out, float *scratch) {
      kiln::tree_ensemble<1, false, float>(x.data(), linked.data(), linkedEntries.data(), nullptr, forest.leaves.data(), out, scratch, 0, task, rows, columns,
                                           1024, group, blocks, blockTrees, count, 1, 0, 0, columns, missing);
    });
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t block = 0; block < blocks; ++block) {
        float want = 0;
        for (int64_t tree = block * blockTrees; tree < count && tree < (block + 1) * blockTrees; ++tree)
          want += forest.walk(tree, &x[row * columns], missing);
        if (one[row * blocks + block] != want || other[row * blocks + block] != want)
          return std::printf("%d levels, missing %d, row %d: %g and %g, expected %g\n", Levels, int(missing), int(row), one[row * blocks + block],
                             other[row * blocks + block], want), false;
      }
  }
  return true;
}

} // namespace

int main() {
  const bool all = check<2>(600) && check<3>(65) && check<4>(1) && check<5>(7) && check<6>(130) && check<7>(9) && check<9>(17) && check<12>(3);
  std::puts(all ? "all agree" : "");
  return !all;
}
