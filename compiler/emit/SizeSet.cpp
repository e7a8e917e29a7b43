//===- SizeSet.cpp - Sets of sizes, in words --------------------------------===//
#include "compiler/emit/SizeSet.h"

#include "llvm/ADT/StringExtras.h"
#include <numeric>

namespace kiln {

/// Sets with a longer period are not kept.
static constexpr int64_t mostSetPeriod = 1 << 14;

std::optional<SizeSet> SizeSet::combine(const SizeSet &a, const SizeSet &b, bool isUnion) {
  int64_t period = std::lcm<int64_t>(a.remainders.size(), b.remainders.size());
  if (period > mostSetPeriod)
    return std::nullopt;
  auto isIn = [&](bool left, bool right) { return isUnion ? left || right : left && right; };
  llvm::BitVector remainders{unsigned(period)}, small(std::max(a.small.size(), b.small.size()));
  for (unsigned i = 0; i < remainders.size(); ++i)
    remainders[i] = isIn(a.remainders[i % a.remainders.size()], b.remainders[i % b.remainders.size()]);
  for (unsigned i = 0; i < small.size(); ++i)
    small[i] = isIn(a.contains(i), b.contains(i));
  return SizeSet(std::move(small), std::move(remainders));
}

/// The shortest period, and no more small sizes than differ from it.
void SizeSet::reduce() {
  for (unsigned period = 1; period < remainders.size(); ++period) {
    if (remainders.size() % period)
      continue;
    bool repeats = true;
    for (unsigned i = period; repeats && i < remainders.size(); ++i)
      repeats = remainders[i] == remainders[i - period];
    if (repeats)
      remainders.resize(period);
  }
  while (!small.empty() && small[small.size() - 1] == remainders[(small.size() - 1) % remainders.size()])
    small.pop_back();
}

/// "0, 3 to 5 or 9"; empty if there are too many to say.
static std::string listSizes(llvm::ArrayRef<int64_t> sizes) {
  constexpr size_t most = 6;
  std::vector<std::string> ranges;
  for (size_t first = 0, last = 0; first < sizes.size(); first = last + 1) {
    for (last = first; last + 1 < sizes.size() && sizes[last + 1] == sizes[last] + 1;)
      ++last;
    ranges.push_back(std::to_string(sizes[first]) + (last == first ? "" : (last == first + 1 ? " or " : " to ") + std::to_string(sizes[last])));
  }
  if (ranges.empty() || ranges.size() > most)
    return "";
  std::string end = ranges.back();
  ranges.pop_back();
  return ranges.empty() ? end : llvm::join(ranges, ", ") + " or " + end;
}

SizeSet::Words SizeSet::describe(llvm::StringRef name, int64_t least, int64_t most) const {
  std::vector<int64_t> rests, more, holes;
  for (unsigned i : remainders.set_bits())
    rests.push_back(i);
  for (int64_t i = std::max<int64_t>(least, 0); i < std::min<int64_t>(int64_t(small.size()), most + 1); ++i)
    if (bool isRegular = remainders[unsigned(i % int64_t(remainders.size()))]; small[unsigned(i)] != isRegular)
      (isRegular ? holes : more).push_back(i);
  Words words;
  std::string symbol = name.str(), period = std::to_string(remainders.size()), list = listSizes(rests);
  bool isFinite = rests.empty(), isAll = remainders.size() == 1 && !isFinite;
  if ((!isFinite && list.empty()) || (!more.empty() && listSizes(more).empty()) || (!holes.empty() && listSizes(holes).empty()))
    return {};
  if (isFinite && more.empty())
    return {"has no size that the model can run with", "no " + symbol + " fits"};
  if (isFinite && more.front() == least && more.back() - least + 1 == int64_t(more.size()))
    return {"must be at most " + std::to_string(more.back()), symbol + " <= " + std::to_string(more.back())};
  if (isFinite)
    return {"must be " + listSizes(more), symbol + (more.size() == 1 ? " == " : " is ") + listSizes(more)};
  bool hasMultiples = rests.front() == 0 && !isAll;
  if (hasMultiples) {
    words = {"must be a multiple of " + period, symbol + " % " + period + " == 0"};
    rests.erase(rests.begin());
  }
  std::string other = listSizes(rests);
  if (!isAll && !other.empty())
    words = {words.demand + (hasMultiples ? ", or " + other + " more than one" : "must be " + other + " more than a multiple of " + period),
             words.text + (hasMultiples ? " or " : "") + symbol + " % " + period + (rests.size() == 1 ? " == " : " is ") + other};
  if (!more.empty())
    words = {words.demand + ", or " + listSizes(more), words.text + " or " + symbol + (more.size() == 1 ? " == " : " is ") + listSizes(more)};
  if (!holes.empty()) {
    std::string none = listSizes(holes);
    words = {words.demand + (isAll ? "must not be " : ", but not ") + none, words.text + (isAll ? "" : " and ") + symbol + " is not " + none};
  }
  return words;
}

std::optional<int64_t> SizeSet::getLargest() const {
  return remainders.any() ? std::nullopt : std::optional(int64_t(small.find_last()));
}

int64_t SizeSet::getMultiple(int64_t least, int64_t most) const {
  if (remainders.size() == 1)
    return 0;
  for (unsigned multiple = 2; multiple <= remainders.size(); ++multiple) {
    if (remainders.size() % multiple)
      continue;
    bool areIn = true;
    for (unsigned i = 0; areIn && i < remainders.size(); i += multiple)
      areIn = remainders[i];
    for (int64_t i = 0; areIn && i < int64_t(small.size()) && i <= most; i += multiple)
      areIn = i < least || small[unsigned(i)];
    if (areIn)
      return multiple;
  }
  return 0;
}

} // namespace kiln
