// The boxes with the best scores that overlap no better one too much.
#ifndef KILN_BOXES_H
#define KILN_BOXES_H

#include "kiln/order.h"
#include "kiln/sort.h"

namespace kiln {

namespace {

// The sides and areas of boxes, each in an array of its own. A box without a size has no area, and overlaps nothing; nor does one with a NaN.
template <typename T> struct Boxes {
  T *numbers;
  int64_t room;

  KILN_INLINE T *top() const { return numbers; }
  KILN_INLINE T *bottom() const { return numbers + room; }
  KILN_INLINE T *left() const { return numbers + 2 * room; }
  KILN_INLINE T *right() const { return numbers + 3 * room; }
  KILN_INLINE T *area() const { return numbers + 4 * room; }

  void set(int64_t i, T from, T to, T start, T end) const {
    top()[i] = from, bottom()[i] = to, left()[i] = start, right()[i] = end;
    area()[i] = rounded((to - from) * (end - start));
  }
  // Boxes of two corners, or of a centre and a size.
  void read(const T *boxes, int64_t count, bool center) const {
    for (int64_t i = 0; i < count; ++i) {
      const T *box = boxes + 4 * i;
      if (center)
        set(i, box[0] - box[2] / 2, box[0] + box[2] / 2, box[1] - box[3] / 2, box[1] + box[3] / 2);
      else
        set(i, box[0] < box[2] ? box[0] : box[2], box[0] < box[2] ? box[2] : box[0], box[1] < box[3] ? box[1] : box[3], box[1] < box[3] ? box[3] : box[1]);
    }
  }
  void copy(int64_t to, const Boxes &from, int64_t i) const {
    for (int side = 0; side < 5; ++side)
      numbers[side * room + to] = from.numbers[side * from.room + i];
  }
  // Whether box i overlaps one of the first `count` boxes of `others` too much. Boxes of no size fill their last vector.
  template <int W> bool overlaps(int64_t i, const Boxes &others, int64_t count, T most) const {
    using V = vec<T, W>;
    const V from = broadcast<V>(top()[i]), to = broadcast<V>(bottom()[i]), start = broadcast<V>(left()[i]), end = broadcast<V>(right()[i]);
    const V size = broadcast<V>(area()[i]), zero{};
    for (int64_t j = 0; j < count; j += W) {
      const V other_from = load<V>(others.top() + j), other_to = load<V>(others.bottom() + j), other_start = load<V>(others.left() + j),
              other_end = load<V>(others.right() + j), other_size = load<V>(others.area() + j);
      const V height = select(to < other_to, to, other_to) - select(from > other_from, from, other_from);
      const V width = select(end < other_end, end, other_end) - select(start > other_start, start, other_start);
      const V common = rounded(height * width), whole = size + other_size - common;
      const auto exist = (height > zero) & (width > zero) & (size > zero) & (other_size > zero) & (whole > zero);
      if (any(exist & (common / whole > broadcast<V>(most))))
        return true;
    }
    return false;
  }
};

// The boxes of one class, and what is selected of them.
template <int W, typename T> struct ClassBoxes {
  using Entry = entry_of<T>;
  Boxes<T> boxes, selected;
  int64_t count; // of boxes
  Entry *entries;
  Ranking<T> ranking;

  // Entries of the best boxes that may be selected, at most `wanted`, best first; their number. Ranks are at most `bound`.
  Entry *sort_best(const T *scores, int64_t wanted, rank_of<T> bound, int64_t &found) const {
    ManyBest<Entry> best{entries, wanted, 2 * count + W};
    best.bound = bound;
    add_line<W>(ranking, scores, count, 1, best);
    best.cut();
    found = best.count;
    return sort_entries(entries, entries + found, found);
  }
  // Rows of three numbers, the last of which is the box; the number of selected boxes.
  int64_t select_boxes(const Entry *candidates, int64_t found, int64_t limit, T overlap, int64_t *rows, int64_t batch, int64_t group) const {
    int64_t taken = 0;
    for (int64_t i = 0; i < found && taken < limit; ++i) {
      const int64_t box = candidates[i].place();
      if (boxes.template overlaps<W>(box, selected, taken, overlap))
        continue;
      for (int64_t j = 0; taken % W == 0 && j < W; ++j)
        selected.set(taken + j, 0, 0, 0, 0);
      selected.copy(taken, boxes, box);
      int64_t *row = rows + 3 * taken++;
      row[0] = batch, row[1] = group, row[2] = box;
    }
    return taken;
  }
};

} // namespace

// For each batch and class, at most `limit` boxes whose scores are above the least one, best first; equal scores are in the order of the boxes. Rows are
// batch, class and box; total: their number. The scratch has room for 2 * count + 16 entries and 10 * count + 160 numbers. infinity: its bits.
template <int W, typename T>
static inline void greedy_boxes(const T *boxes, const T *scores, int64_t *rows, int64_t *total, int64_t *scratch, int64_t batches, int64_t classes,
                                int64_t count, int64_t limit, T overlap, T least, int64_t has_least, int64_t center, int64_t infinity) {
  using Entry = entry_of<T>;
  static_assert(W <= 16, "the scratch has room for a vector of 16 elements");
  T *numbers = reinterpret_cast<T *>(scratch + (2 * count + 16) * entryWords<T>);
  const Ranking<T> ranking{true, rank_of<T>(infinity), Ranking<T>::mask};
  const ClassBoxes<W, T> each{{numbers, count}, {numbers + 5 * count, count + W}, count, reinterpret_cast<Entry *>(scratch), ranking};
  // No score is above NaN, and NaN is above none.
  const rank_of<T> bound = (has_least ? ranking.template load_ranks<1>(&least) : Ranking<T>::mask) - 1;
  limit = has_least && least != least ? 0 : limit < count ? limit : count;
  *total = 0;
  for (int64_t batch = 0; batch < batches && limit > 0; ++batch) {
    each.boxes.read(boxes + 4 * batch * count, count, center != 0);
    for (int64_t group = 0; group < classes; ++group) {
      // Some more boxes than are selected at most; all of them only if these were too few.
      const int64_t some = 4 * limit + 64 < count ? 4 * limit + 64 : count;
      int64_t taken = 0;
      for (int64_t wanted = some, found = count; taken < limit; wanted = count) {
        Entry *sorted = each.sort_best(scores + (batch * classes + group) * count, wanted, bound, found);
        taken = each.select_boxes(sorted, found, limit, overlap, rows + 3 * *total, batch, group);
        if (found < wanted || wanted == count)
          break;
      }
      *total += taken;
    }
  }
}

} // namespace kiln

#endif // KILN_BOXES_H
