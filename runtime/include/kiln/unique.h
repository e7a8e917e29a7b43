// The different rows of a matrix.
#ifndef KILN_UNIQUE_H
#define KILN_UNIQUE_H

#include "kiln/sort.h"

namespace kiln {

namespace {

// Puts places of rows in order, column by column, and marks where a row differs from the one before it.
template <typename T, typename Entry> struct RowOrder {
  const T *rows;
  int64_t length;
  Ranking<T> ranking;
  Entry *entries, *spare;
  int64_t *begins;

  // Sorts rows [first, end), which are equal before this column.
  void sort_run(int64_t first, int64_t end, int64_t column) {
    Entry *const run = entries + first;
    for (int64_t i = first; i < end; ++i) {
      const int64_t place = entries[i].place();
      entries[i] = Entry::make(ranking.template load_ranks<1>(rows + place * length + column), place);
    }
    const Entry *const sorted = sort_entries(run, spare, end - first);
    for (int64_t i = 0; sorted != run && i < end - first; ++i)
      run[i] = sorted[i];
    for (int64_t i = first + 1; i < end; ++i)
      begins[i] = entries[i].rank() != entries[i - 1].rank();
  }
  void sort(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      entries[i] = Entry::make(0, i);
      begins[i] = i == 0;
    }
    bool are_equal = true;
    for (int64_t column = 0; column < length && are_equal; ++column) {
      are_equal = false;
      for (int64_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && !begins[end];)
          ++end;
        if (end - first < 2)
          continue;
        are_equal = true;
        sort_run(first, end, column);
      }
    }
  }
};

} // namespace

// The first of each kind of equal rows, the kind of each row, the number of rows of each kind, and the number of kinds, which are in the order of the rows'
// numbers or of their first rows. All NaN are one number, larger than all others. The scratch has room for two entries and a word for each row; infinity: as
// Ranking has it.
template <typename T>
static inline void unique_rows(const T *rows, int64_t *first, int64_t *kinds, int64_t *sizes, int64_t *found, int64_t *scratch, int64_t count, int64_t length,
                               int64_t sorted, int64_t infinity) {
  using Entry = entry_of<T>;
  Entry *entries = reinterpret_cast<Entry *>(scratch);
  int64_t *begins = scratch + 2 * count * entryWords<T>;
  RowOrder<T, Entry> order{rows, length, {false, rank_of<T>(infinity), Ranking<T>::mask}, entries, entries + count, begins};
  order.sort(count);
  int64_t number = 0;
  if (sorted) {
    for (int64_t i = 0; i < count; ++i) {
      if (begins[i])
        first[number++] = entries[i].place();
      kinds[entries[i].place()] = number - 1;
    }
  } else {
    // Equal rows are in the order of their places. Until a row's kind is known, it is the place of the first row that equals it.
    for (int64_t i = 0, place = 0; i < count; ++i) {
      place = begins[i] ? entries[i].place() : place;
      kinds[entries[i].place()] = place;
    }
    for (int64_t row = 0; row < count; ++row) {
      if (kinds[row] == row)
        first[number++] = row;
      kinds[row] = kinds[row] == row ? number - 1 : kinds[kinds[row]];
    }
  }
  for (int64_t kind = 0; kind < number; ++kind)
    sizes[kind] = 0;
  for (int64_t row = 0; row < count; ++row)
    ++sizes[kinds[row]];
  *found = number;
}

} // namespace kiln

#endif // KILN_UNIQUE_H
