// The k best numbers of lines, in order, with their places.
#ifndef KILN_BEST_H
#define KILN_BEST_H

#include "kiln/sort.h"

namespace kiln {

namespace {

// Up to so many are kept sorted while a line goes by.
inline constexpr int64_t fewBest = 8;
// Entries beyond twice the wanted ones: those of a vector, and some more so that few numbers are not cut again and again.
inline constexpr int64_t spareBest = 64;

// Calls use(the i-th best place, i) for the wanted ones of a line.
template <int W, typename T, typename Use>
void each_best(const Ranking<T> &ranking, const T *x, int64_t size, int64_t apart, int64_t wanted, int64_t *scratch, const Use &use) {
  using Entry = entry_of<T>;
  if (wanted == 0)
    return;
  if (size > int64_t(0xffffffff)) {
    // Places need two words, which there is room for if entries are not sorted once more.
    FewBest<LongEntry> best{reinterpret_cast<LongEntry *>(scratch), wanted};
    add_line<W>(ranking, x, size, apart, best);
    for (int64_t i = 0; i < wanted; ++i)
      use(best.entries[i].place(), i);
    return;
  }
  Entry *entries = reinterpret_cast<Entry *>(scratch);
  if (wanted <= fewBest) {
    FewBest<Entry> best{entries, wanted};
    add_line<W>(ranking, x, size, apart, best);
  } else {
    ManyBest<Entry> best{entries, wanted, 2 * wanted + spareBest};
    add_line<W>(ranking, x, size, apart, best);
    best.cut();
    entries = sort_entries(entries, entries + wanted, wanted);
  }
  for (int64_t i = 0; i < wanted; ++i)
    use(entries[i].place(), i);
}

} // namespace

// The wanted best numbers of one line that are neighbours, to line `line` of the results. The scratch has room for 2 * wanted + 64 entries of the words that
// entryWords says (of 8 or fewer: for 2 * wanted words). NaN is better than all numbers; of equal numbers, the first is better. `infinity`: as
// Ranking has it.
template <int W, typename T, typename Index>
static inline void top_k_row(const T *x, T *values, Index *indices, int64_t *scratch, int64_t scratch_start, int64_t line, int64_t size, int64_t wanted,
                             int64_t largest, int64_t infinity) {
  const Ranking<T> ranking{largest != 0, rank_of<T>(infinity), 0};
  each_best<W>(ranking, x, size, 1, wanted, scratch + scratch_start, [&](int64_t place, int64_t i) {
    values[line * wanted + i] = x[place];
    indices[line * wanted + i] = Index(place);
  });
}

// Takes lines [begin, end) whose numbers are `apart` elements apart; as many lines lie side by side.
template <int W, typename T, typename Index>
static inline void top_k(const T *x, T *values, Index *indices, int64_t *scratch, int64_t scratch_start, int64_t begin, int64_t end, int64_t size,
                         int64_t wanted, int64_t apart, int64_t largest, int64_t infinity) {
  const Ranking<T> ranking{largest != 0, rank_of<T>(infinity), 0};
  for (int64_t line = begin; line < end; ++line) {
    // Divisions take as long as short lines do.
    const int64_t group = apart == 1 ? line : line / apart, member = line - group * apart;
    const T *from = x + group * size * apart + member;
    const int64_t to = group * wanted * apart + member;
    each_best<W>(ranking, from, size, apart, wanted, scratch + scratch_start, [&](int64_t place, int64_t i) {
      values[to + i * apart] = from[place * apart];
      indices[to + i * apart] = Index(place);
    });
  }
}

} // namespace kiln

#endif // KILN_BEST_H
