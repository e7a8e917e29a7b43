//===- Regex.cpp - Regular expressions as automata ----------------------------===//
//
//   pattern -> parts (RegexSyntax.h) -> states with empty moves -> sets of states, one table
//
// Empty moves may stand under a condition on the characters around them (\b, ^, $): a set is closed when the next byte is known.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Regex.h"
#include "dialects/nn/RegexSyntax.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using llvm::StringRef;

namespace kiln::nn {

static constexpr size_t mostPlaces = 20000, mostStates = 4000;

namespace {
/// A state of the automaton with empty moves: goes on with a byte of the set, or empty under a condition.
struct Place {
  std::bitset<256> bytes;
  int next = -1;
  struct Move {
    int to;
    RegexPart::Kind condition;
  };
  std::vector<Move> moves;
};

class AutomatonBuilder {
public:
  std::vector<Place> places;
  /// The place behind `part` when it begins at `from`.
  int add(const RegexPart &part, int from);
  bool isTooLarge() const { return places.size() > mostPlaces; }
  int newPlace() {
    places.emplace_back();
    return static_cast<int>(places.size()) - 1;
  }

private:
  void move(int from, int to, RegexPart::Kind condition = RegexPart::Empty) { places[from].moves.push_back({to, condition}); }
  int step(int from, const std::bitset<256> &bytes) {
    int source = newPlace(), target = newPlace();
    move(from, source);
    places[source].bytes = bytes;
    places[source].next = target;
    return target;
  }
  int addSet(const CharacterSet &set, int from);
  int addRepeat(const RegexPart &part, int from);
};
} // namespace

static std::bitset<256> byteRange(int first, int last) {
  std::bitset<256> bytes;
  for (int byte = first; byte <= last; ++byte)
    bytes.set(byte);
  return bytes;
}

/// A character of ASCII, or one of two to four bytes.
int AutomatonBuilder::addSet(const CharacterSet &set, int from) {
  std::bitset<256> ascii;
  for (int c = 0; c < 128; ++c)
    ascii.set(c, set.ascii[c]);
  int end = step(from, ascii);
  if (!set.others)
    return end;
  std::bitset<256> follow = byteRange(0x80, 0xbf);
  move(step(step(from, byteRange(0xc2, 0xdf)), follow), end);
  move(step(step(step(from, byteRange(0xe0, 0xef)), follow), follow), end);
  move(step(step(step(step(from, byteRange(0xf0, 0xf4)), follow), follow), follow), end);
  return end;
}

int AutomatonBuilder::addRepeat(const RegexPart &part, int from) {
  for (int i = 0; i < part.least && !isTooLarge(); ++i)
    from = add(*part.parts[0], from);
  if (part.most < 0) {
    int begin = newPlace(), end = newPlace();
    move(from, begin);
    move(begin, end);
    move(add(*part.parts[0], begin), begin);
    return end;
  }
  int end = newPlace();
  for (int i = part.least; i < part.most && !isTooLarge(); ++i) {
    move(from, end);
    from = add(*part.parts[0], from);
  }
  move(from, end);
  return end;
}

int AutomatonBuilder::add(const RegexPart &part, int from) {
  switch (part.kind) {
  case RegexPart::Empty:
    return from;
  case RegexPart::Set:
    return addSet(part.set, from);
  case RegexPart::Byte:
    return step(from, byteRange(part.byte, part.byte));
  case RegexPart::Sequence:
    for (const auto &inner : part.parts)
      from = add(*inner, from);
    return from;
  case RegexPart::Choice: {
    int end = newPlace();
    for (const auto &inner : part.parts)
      move(add(*inner, from), end);
    return end;
  }
  case RegexPart::Repeat:
    return addRepeat(part, from);
  default: {
    int end = newPlace();
    move(from, end, part.kind);
    return end;
  }
  }
}

//===- Sets of states ------------------------------------------------------===//

namespace {
using Set = std::set<int>;
struct State {
  Set places;
  Side before = Edge;
  bool operator<(const State &other) const { return std::tie(places, before) < std::tie(other.places, other.before); }
};

class Tabulator {
public:
  Tabulator(const std::vector<Place> &places, int end) : places(places), end(end) {}
  std::optional<Automaton> run(std::string &reason);

private:
  Set close(const State &state, Side after) const;
  State advance(const State &state, unsigned byte) const;
  void findClasses(Automaton &result);
  static Side sideOf(unsigned byte) { return isWordByte(byte) ? Word : NoWord; }

  const std::vector<Place> &places;
  int end;
  /// A byte of each class.
  std::vector<unsigned> examples;
};
} // namespace

static bool holds(RegexPart::Kind condition, Side before, Side after) {
  bool isWordEdge = (before == Word) != (after == Word);
  return condition == RegexPart::Empty || (condition == RegexPart::WordEdge && isWordEdge) || (condition == RegexPart::NoWordEdge && !isWordEdge) ||
         (condition == RegexPart::Begin && before == Edge) || (condition == RegexPart::End && after == Edge);
}

Set Tabulator::close(const State &state, Side after) const {
  Set closed = state.places;
  std::vector<int> open(closed.begin(), closed.end());
  while (!open.empty()) {
    int place = open.back();
    open.pop_back();
    for (const Place::Move &move : places[place].moves)
      if (holds(move.condition, state.before, after) && closed.insert(move.to).second)
        open.push_back(move.to);
  }
  return closed;
}

State Tabulator::advance(const State &state, unsigned byte) const {
  State result;
  result.before = sideOf(byte);
  for (int place : close(state, sideOf(byte)))
    if (places[place].bytes[byte])
      result.places.insert(places[place].next);
  // All states that accept nothing are one.
  if (result.places.empty())
    result.before = NoWord;
  return result;
}

/// Bytes that no place tells apart are one class.
void Tabulator::findClasses(Automaton &result) {
  std::map<std::vector<bool>, int32_t> known;
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::vector<bool> key = {isWordByte(byte)};
    for (const Place &place : places)
      if (place.next >= 0)
        key.push_back(place.bytes[byte]);
    auto [entry, isNew] = known.try_emplace(std::move(key), static_cast<int32_t>(known.size()));
    if (isNew)
      examples.push_back(byte);
    result.classes.push_back(entry->second);
  }
}

std::optional<Automaton> Tabulator::run(std::string &reason) {
  Automaton result;
  findClasses(result);
  result.width = static_cast<int64_t>(examples.size()) + 1;
  std::map<State, int32_t> numbers;
  std::vector<const State *> order;
  auto numberOf = [&](State state) {
    auto [entry, isNew] = numbers.try_emplace(std::move(state), static_cast<int32_t>(numbers.size()));
    if (isNew)
      order.push_back(&entry->first);
    return entry->second;
  };
  for (Side before : {Edge, Word, NoWord})
    numberOf({{0}, before});
  for (size_t i = 0; i < order.size(); ++i) {
    if (order.size() > mostStates) {
      reason = "the automaton has more than " + std::to_string(mostStates) + " states";
      return std::nullopt;
    }
    const State &state = *order[i];
    for (unsigned byte : examples)
      result.next.push_back(numberOf(advance(state, byte)));
    int32_t accepting = 0;
    for (Side after : {Edge, Word, NoWord})
      accepting |= static_cast<int32_t>(close(state, after).count(end)) << after;
    result.next.push_back(accepting);
  }
  return result;
}

std::optional<Automaton> compileRegex(StringRef pattern, std::string &reason) {
  auto parts = parseRegex(pattern, reason);
  if (!parts)
    return std::nullopt;
  AutomatonBuilder builder;
  int end = builder.add(*parts, builder.newPlace());
  if (builder.isTooLarge()) {
    reason = "the pattern is too large once its repetitions are expanded";
    return std::nullopt;
  }
  return Tabulator(builder.places, end).run(reason);
}

} // namespace kiln::nn
