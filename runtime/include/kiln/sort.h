// Numbers as ranks, which are unsigned integers in the order of the numbers; the best of many ranks, and sorting. Equal ranks stay in the
// order of their places.
#ifndef KILN_SORT_H
#define KILN_SORT_H

#include "kiln/vector.h"

namespace kiln {

// Their functions belong to the translation unit: units for several targets meet in one library.
namespace {

// The rank of what lies at a place, in one word: for ranks of 32 bits and places below 2^32.
struct ShortEntry {
  using Rank = uint32_t;
  uint64_t word;

  static KILN_INLINE ShortEntry make(Rank rank, int64_t place) { return {uint64_t(rank) << 32 | uint32_t(place)}; }
  KILN_INLINE Rank rank() const { return Rank(word >> 32); }
  KILN_INLINE int64_t place() const { return int64_t(uint32_t(word)); }
} __attribute__((may_alias));

// Any rank and place, in two words.
struct LongEntry {
  using Rank = uint64_t;
  uint64_t ranked;
  int64_t at;

  static KILN_INLINE LongEntry make(Rank rank, int64_t place) { return {rank, place}; }
  KILN_INLINE Rank rank() const { return ranked; }
  KILN_INLINE int64_t place() const { return at; }
} __attribute__((may_alias));

// Zeros, without a call of memset.
KILN_INLINE void clear(int64_t (&counts)[256]) {
  for (int64_t &count : counts)
    count = 0;
}

// The type of ranks of numbers of type T, and of entries for them.
template <typename T> using rank_of = typename UintOf<(sizeof(T) > 4 ? 8 : 4)>::type;
template <typename T, bool Long = (sizeof(T) > 4)> struct EntryOf {
  using type = ShortEntry;
};
template <typename T> struct EntryOf<T, true> {
  using type = LongEntry;
};
template <typename T> using entry_of = typename EntryOf<T>::type;
// Words of an entry.
template <typename T> inline constexpr int64_t entryWords = sizeof(T) > 4 ? 2 : 1;

// Gives ranks to numbers of type T. A smaller rank is a better number: a larger one, or a smaller one.
template <typename T> struct Ranking {
  using Rank = rank_of<T>;
  using Bits = typename UintOf<sizeof(T)>::type;
  static constexpr Rank sign = Rank(1) << (8 * sizeof(T) - 1), mask = sign | (sign - 1);

  bool largest;
  Rank infinity; // its bits; 0: numbers are signed integers; all bits: unsigned ones. What T says is not asked: halves are integers, too
  Rank nan;      // the rank of NaN: 0 if it is better than all numbers, mask if it is worse

  // The ranks of numbers with these bits. Both zeros have one rank.
  template <typename V> KILN_INLINE V rank(V bits) const {
    const Rank turned = largest ? mask : Rank(0);
    if (infinity == 0 || infinity == Rank(~Rank(0)))
      return bits ^ broadcast<V>(turned ^ (infinity == 0 ? sign : Rank(0)));
    const V size = bits & broadcast<V>(sign - 1);
    V ordered = select((bits & broadcast<V>(sign)) != broadcast<V>(0), bits ^ broadcast<V>(mask), bits | broadcast<V>(sign));
    ordered = select(size == broadcast<V>(0), broadcast<V>(sign), ordered) ^ broadcast<V>(turned);
    return select(size > broadcast<V>(infinity), broadcast<V>(nan), ordered);
  }
  // The ranks of numbers that are neighbours.
  template <int W> KILN_INLINE vec<Rank, W> load_ranks(const T *x) const {
    return rank(convert<vec<Rank, W>>(load<vec<Bits, W>>(reinterpret_cast<const Bits *>(x))));
  }
};

// The best `wanted` of the entries that are added in the order of their places, sorted: each new one moves worse ones up. For a few.
template <typename Entry> struct FewBest {
  using Rank = typename Entry::Rank;
  Entry *entries;
  int64_t wanted, count = 0;
  Rank bound = Rank(~Rank(0)); // what is worse is none of the best
  bool complete = false;       // nothing is better than all that are kept

  void make_room(int64_t) {}
  KILN_INLINE void add(Rank rank, int64_t place) {
    if (rank > bound || complete)
      return;
    int64_t at = count < wanted ? count++ : wanted - 1;
    for (; at > 0 && entries[at - 1].rank() > rank; --at)
      entries[at] = entries[at - 1];
    entries[at] = Entry::make(rank, place);
    if (count == wanted) {
      const Rank worst = entries[wanted - 1].rank();
      complete = worst == 0;
      bound = worst - (worst != 0);
    }
  }
};

// Keeps the best of any number, in the order of their places: when the room is full, all but the best leave it.
template <typename Entry> struct ManyBest {
  using Rank = typename Entry::Rank;
  Entry *entries;
  int64_t wanted, room, count = 0;
  Rank bound = Rank(~Rank(0));
  bool complete = false;

  KILN_INLINE void make_room(int64_t more) {
    if (count + more > room)
      cut();
  }
  KILN_INLINE void add(Rank rank, int64_t place) {
    entries[count] = Entry::make(rank, place);
    count += rank <= bound;
  }
  // Finds the rank of the last one that stays, eight bits at a time.
  void cut() {
    if (count <= wanted)
      return;
    Rank last = 0;
    int64_t equal = wanted;
    for (int shift = int(8 * sizeof(Rank)) - 8; shift >= 0; shift -= 8) {
      const Rank known = shift + 8 < int(8 * sizeof(Rank)) ? Rank(~Rank(0)) << (shift + 8) : Rank(0);
      int64_t counts[256];
      clear(counts);
      for (int64_t i = 0; i < count; ++i)
        counts[(entries[i].rank() >> shift) & 255] += (entries[i].rank() & known) == last;
      int digit = 0;
      for (; counts[digit] < equal; ++digit)
        equal -= counts[digit];
      last |= Rank(digit) << shift;
      if (counts[digit] == equal) {
        last |= Rank(Rank(1) << shift) - 1;
        equal = count;
        break;
      }
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {
      const Entry entry = entries[i];
      const bool isLast = entry.rank() == last;
      entries[kept] = entry;
      kept += entry.rank() < last || (isLast && equal > 0);
      equal -= isLast;
    }
    count = kept;
    complete = last == 0;
    bound = last - (last != 0);
  }
};

// Adds the numbers that may be among the best: neighbours, the first of which has the place `first`.
template <int W, typename T, typename Best> void add_numbers(const Ranking<T> &ranking, const T *x, int64_t size, int64_t first, Best &best) {
  using Rank = rank_of<T>;
  using V = vec<Rank, W>;
  int64_t i = 0;
  for (; i + W <= size && !best.complete; i += W) {
    const V ranks = ranking.template load_ranks<W>(x + i);
    if (!any(ranks <= broadcast<V>(Rank(best.bound < Ranking<T>::mask ? best.bound : Ranking<T>::mask))))
      continue;
    best.make_room(W);
    Rank each[W];
    store(each, ranks);
    for (int j = 0; j < W; ++j)
      best.add(each[j], first + i + j);
  }
  for (; i < size && !best.complete; ++i) {
    best.make_room(1);
    best.add(ranking.template load_ranks<1>(x + i), first + i);
  }
}

// A line of numbers that are this many elements apart.
template <int W, typename T, typename Best> void add_line(const Ranking<T> &ranking, const T *x, int64_t size, int64_t apart, Best &best) {
  if (apart == 1)
    return add_numbers<W>(ranking, x, size, 0, best);
  constexpr int64_t most = 64;
  T numbers[most];
  for (int64_t first = 0; first < size && !best.complete; first += most) {
    const int64_t count = size - first < most ? size - first : most;
    for (int64_t i = 0; i < count; ++i)
      numbers[i] = x[(first + i) * apart];
    add_numbers<W>(ranking, numbers, count, first, best);
  }
}

// Sorts entries by their ranks; equal ones stay in order. Returns where they are then: in `entries`, or in `spare`, which has as much room.
template <typename Entry> Entry *sort_entries(Entry *entries, Entry *spare, int64_t count) {
  constexpr int64_t few = 64;
  if (count <= few) {
    for (int64_t i = 1; i < count; ++i) {
      const Entry moving = entries[i];
      int64_t at = i;
      for (; at > 0 && entries[at - 1].rank() > moving.rank(); --at)
        entries[at] = entries[at - 1];
      entries[at] = moving;
    }
    return entries;
  }
  for (int shift = 0; shift < int(8 * sizeof(typename Entry::Rank)); shift += 8) {
    int64_t starts[256];
    clear(starts);
    for (int64_t i = 0; i < count; ++i)
      ++starts[(entries[i].rank() >> shift) & 255];
    if (starts[(entries[0].rank() >> shift) & 255] == count)
      continue;
    int64_t before = 0;
    for (int64_t &start : starts) {
      const int64_t size = start;
      start = before, before += size;
    }
    for (int64_t i = 0; i < count; ++i)
      spare[starts[(entries[i].rank() >> shift) & 255]++] = entries[i];
    Entry *last = entries;
    entries = spare, spare = last;
  }
  return entries;
}

} // namespace

} // namespace kiln

#endif // KILN_SORT_H
