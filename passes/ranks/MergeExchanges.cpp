//===- MergeExchanges.cpp - Collectives that share a message ----------------===//
//
//   %a = nn.all_gather %k number 0               %a, %b = nn.merged_exchange "all_gather"(%k, %v) number 0
//   %b = nn.all_gather %v number 1         =>
//
// Collectives of one kind among the same ranks, none of which needs the result of another one. They are made where the last of them was; what is between them
// and needs the result of one moves behind it. The communicator sends from several buffers at once, so nothing is copied, and sums keep their order.
//
// A message that is saved saves a latency. It is not worth it where both exchanges would be hidden: the first one beside the work that is still to be done for
// the operand of the second one, and the second one beside what needs the first one only.
//
//===----------------------------------------------------------------------===//
#include "passes/ranks/MergeExchanges.h"
#include "dialects/nn/ModelAttributeNames.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Ranks.h"
#include "passes/ranks/Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_MERGEEXCHANGES
#include "passes/ranks/Passes.h.inc"

using namespace nn;

/// So many collectives behind one are looked at for it.
static constexpr size_t mostAhead = 12;

/// What a message costs beside the latency of the first one, as a part of that (docs/Ranks.md, Networks).
static constexpr double shareOfMessage = 0.1;

/// Operations behind a collective that are looked at for what runs beside another one.
static constexpr size_t mostBeside = 512;

namespace {

/// The latest collectives of a block that a value needs, by their places among those of the block.
class Needs {
public:
  bool has(int64_t place) const { return place <= last && last - place < bits && mask >> (last - place) & 1; }
  void add(int64_t place) { join({place, 1}); }
  void join(const Needs &other) {
    int64_t latest = std::max(last, other.last);
    mask = shifted(mask, latest - last) | shifted(other.mask, latest - other.last);
    last = latest;
  }
  Needs() = default;

private:
  static constexpr int64_t bits = 64;
  static_assert(mostAhead < bits);
  Needs(int64_t last, uint64_t mask) : last(last), mask(mask) {}
  static uint64_t shifted(uint64_t mask, int64_t by) { return by < bits ? mask << by : 0; }

  int64_t last = -1;
  uint64_t mask = 0;
};

/// The collectives of one block on one rank.
struct BlockExchanges {
  explicit BlockExchanges(Block &block);

  SmallVector<Operation *> exchanges;
  /// What the operands of each need.
  std::vector<Needs> needs;
  /// How many operations before each have exchanges inside of them.
  std::vector<unsigned> loopsBefore;
};

/// What is decided for the blocks of all ranks that are the same.
class BlockMerges {
public:
  BlockMerges(ArrayRef<BlockExchanges> ranks, const RankMachine &machine);
  void choose();

  std::vector<ExchangeMerges::Merge> merges;
  SmallVector<SmallVector<Operation *>> merged;
  /// Why exchanges next to each other are not merged, with the second one of each pair.
  llvm::MapVector<StringRef, SmallVector<Operation *>> refused;

private:
  bool needs(size_t later, size_t earlier) const { return needsOfAny[later].has(static_cast<int64_t>(earlier)); }
  StringRef findObstacle(ArrayRef<size_t> members, size_t next) const;
  bool pays(ArrayRef<size_t> members, size_t next) const;
  double secondsOf(ArrayRef<size_t> members) const;
  double workFor(size_t first, size_t next, double enough) const;
  double workBeside(size_t first, size_t next, double enough) const;

  ArrayRef<Operation *> all;
  ArrayRef<unsigned> loopsBefore;
  const RankMachine &machine;
  /// What each needs on some rank, itself or by an exchange that needs it on another one: the order is one for all.
  std::vector<Needs> needsOfAny;
};

} // namespace

//===- What needs what -------------------------------------------------------===//

/// Calls visit(value) for all that an operation reads from outside of it.
template <typename Visit> static void eachOperand(Operation *op, Visit visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
        visit(operand);
  });
}

/// Whether the operation has exchanges inside of it.
static bool hasExchanges(Operation &op) {
  return op.walk([&](Operation *inner) { return inner != &op && isCollective(inner) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

BlockExchanges::BlockExchanges(Block &block) {
  DenseMap<Value, Needs> known;
  unsigned loops = 0;
  for (Operation &op : block) {
    Needs own;
    eachOperand(&op, [&](Value operand) {
      if (auto found = known.find(operand); found != known.end())
        own.join(found->second);
    });
    loops += hasExchanges(op) ? 1 : 0;
    if (isCollective(&op)) {
      needs.push_back(own);
      loopsBefore.push_back(loops);
      own.add(static_cast<int64_t>(exchanges.size()));
      exchanges.push_back(&op);
    }
    for (Value result : op.getResults())
      known[result] = own;
  }
}

BlockMerges::BlockMerges(ArrayRef<BlockExchanges> ranks, const RankMachine &machine)
    : all(ranks.front().exchanges), loopsBefore(ranks.front().loopsBefore), machine(machine) {
  for (size_t later = 0; later < all.size(); ++later) {
    Needs own;
    for (const BlockExchanges &rank : ranks)
      own.join(rank.needs[later]);
    for (size_t back = 1; back <= std::min(later, mostAhead); ++back)
      if (own.has(static_cast<int64_t>(later - back)))
        own.join(needsOfAny[later - back]);
    needsOfAny.push_back(own);
  }
}

//===- What it takes ---------------------------------------------------------===//

/// Seconds of one call for some collectives of one kind.
double BlockMerges::secondsOf(ArrayRef<size_t> members) const {
  Operation *first = all[members.front()];
  auto parts = static_cast<int64_t>(getCollectiveRanks(first).size());
  double bytes = 0;
  for (size_t member : members)
    bytes += estimateBytes(all[member]->getOperand(0));
  StringRef kind = getCollectiveKind(first);
  if (kind == "all_reduce")
    return machine.allReduce(bytes, parts);
  if (kind == "all_gather")
    return machine.allGather(bytes * static_cast<double>(parts), parts);
  if (kind == "reduce_scatter")
    return machine.reduceScatter(bytes, parts);
  if (kind == "all_to_all")
    return machine.allToAll(bytes * static_cast<double>(parts), parts);
  return machine.latency + bytes / machine.networkBytesPerSecond;
}

/// Seconds of what the operand of `next` needs, and that of `first` does not; no more than `enough` is of interest.
double BlockMerges::workFor(size_t first, size_t next, double enough) const {
  enum : unsigned { OfFirst = 1, OfNext = 2 };
  double seconds = 0;
  auto isLater = [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); };
  std::set<Operation *, decltype(isLater)> work(isLater);
  DenseMap<Operation *, unsigned> flags;
  size_t ofNextOnly = 0;
  auto add = [&](Value operand, unsigned flag) {
    Operation *source = operand.getDefiningOp();
    if (!source || source->getBlock() != all[first]->getBlock() || isa<ConstantOp>(source))
      return;
    unsigned &known = flags[source], before = known;
    known |= flag;
    work.insert(source);
    ofNextOnly += (known == OfNext) - (before == OfNext);
  };
  // Exchanges keep their order: what those before it need is done when it starts.
  for (size_t earlier = first - std::min(first, mostAhead); earlier <= first; ++earlier)
    add(all[earlier]->getOperand(0), OfFirst);
  add(all[next]->getOperand(0), OfNext);
  // From the last one on: who needs an operation is known when its turn comes.
  for (size_t looked = 0; ofNextOnly > 0 && seconds < enough && looked < mostBeside; ++looked) {
    Operation *op = *work.begin();
    work.erase(work.begin());
    unsigned flag = flags.lookup(op);
    ofNextOnly -= flag == OfNext;
    seconds += flag == OfNext && !isCollective(op) ? estimateSeconds(op, machine) : 0;
    eachOperand(op, [&](Value operand) { add(operand, flag); });
  }
  return seconds;
}

/// Seconds of what needs `first`, but not `next`, up to what needs both; no more than `enough` is of interest.
double BlockMerges::workBeside(size_t first, size_t next, double enough) const {
  double seconds = 0;
  size_t looked = 0;
  llvm::DenseSet<Value> ofFirst(all[first]->result_begin(), all[first]->result_end()), ofNext(all[next]->result_begin(), all[next]->result_end());
  for (Operation *op = all[first]->getNextNode(); op && seconds < enough && looked < mostBeside; op = op->getNextNode()) {
    bool needsFirst = false, needsNext = false;
    eachOperand(op, [&](Value operand) {
      needsFirst |= ofFirst.contains(operand);
      needsNext |= ofNext.contains(operand);
    });
    if (needsFirst && needsNext)
      break;
    looked += needsFirst;
    seconds += needsFirst && !isCollective(op) ? estimateSeconds(op, machine) : 0;
    for (Value result : op->getResults())
      if (needsFirst || needsNext)
        (needsFirst ? ofFirst : ofNext).insert(result);
  }
  return seconds;
}

bool BlockMerges::pays(ArrayRef<size_t> members, size_t next) const {
  SmallVector<size_t> together(members);
  together.push_back(next);
  double message = machine.latency * shareOfMessage, first = secondsOf(members), second = secondsOf(next);
  double apart = std::max(0.0, first - workFor(members.front(), next, first)) + std::max(0.0, second - workBeside(members.front(), next, second)) + 2 * message;
  return secondsOf(together) + message < apart;
}

//===- The choice ------------------------------------------------------------===//

/// The reduction of a collective that combines, or the offset of one that shifts; null for others. Those that are merged have one.
static Attribute getForm(Operation *op) {
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    return reduce.getReductionAttr();
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    return scatter.getReductionAttr();
  auto shift = dyn_cast<ShiftOp>(op);
  return shift ? shift.getOffsetAttr() : Attribute();
}

/// Why the next collective is no member of the merged one; empty if it is.
StringRef BlockMerges::findObstacle(ArrayRef<size_t> members, size_t next) const {
  Operation *first = all[members.front()], *other = all[next];
  if (llvm::any_of(members, [&](size_t member) { return needs(next, member); }))
    return "the second one needs the result of the first one";
  if (loopsBefore[members.front()] != loopsBefore[next])
    return "a loop with exchanges is between them";
  if (getCollectiveKind(first) != getCollectiveKind(other))
    return "they are of different kinds";
  if (getCollectiveRanks(first) != getCollectiveRanks(other))
    return "they are among different ranks";
  bool combines = getCollectiveKind(first) == "all_reduce" || getCollectiveKind(first) == "reduce_scatter";
  if (combines && getElementTypeOrSelf(first->getOperand(0)) != getElementTypeOrSelf(other->getOperand(0)))
    return "they combine in different ways";
  if (getForm(first) != getForm(other))
    return combines ? "they combine in different ways" : "they go to different neighbours";
  if (members.size() == mostMerged)
    return "a message has room for no more";
  return pays(members, next) ? "" : "apart, they are hidden by the work beside them";
}

void BlockMerges::choose() {
  for (size_t at = 0; at < all.size();) {
    SmallVector<size_t> members = {at};
    SmallVector<StringRef> obstacles;
    for (size_t next = at + 1; next < all.size() && next - at <= mostAhead; ++next) {
      bool areSingle = !isa<MergedExchangeOp>(all[at]) && !isa<MergedExchangeOp>(all[next]);
      obstacles.push_back(areSingle ? findObstacle(members, next) : "they are merged already");
      if (obstacles.back().empty())
        members.push_back(next);
    }
    // What lies in between stays as it is: merged calls do not interleave.
    size_t end = members.back() + 1;
    for (size_t next = at + 1; next <= end && next - at <= obstacles.size(); ++next)
      if (StringRef obstacle = obstacles[next - at - 1]; !obstacle.empty())
        refused[obstacle].push_back(all[next]);
    if (members.size() > 1) {
      ExchangeMerges::Merge merge;
      SmallVector<Operation *> ops;
      for (size_t place = at; place < end; ++place) {
        int64_t number = *getCollectiveNumber(all[place]);
        if (llvm::is_contained(members, place)) {
          merge.members.push_back(number);
          ops.push_back(all[place]);
        } else if (llvm::any_of(members, [&](size_t member) { return member < place && needs(place, member); })) {
          merge.behind.push_back(number);
        }
      }
      merges.push_back(std::move(merge));
      merged.push_back(std::move(ops));
    }
    at = end;
  }
}

//===- For people ------------------------------------------------------------===//

/// The nodes of the operations, or the first ones of each.
static Attribute nameNodes(Builder &b, ArrayRef<Operation *> ops, size_t mostOfEach) {
  llvm::SetVector<Attribute> names;
  for (Operation *op : ops) {
    size_t listed = 0;
    op->getLoc()->walk([&](Location part) {
      auto name = dyn_cast<NameLoc>(part);
      if (name && listed++ < mostOfEach)
        names.insert(b.getStringAttr(name.getName().strref()));
      return WalkResult::advance();
    });
  }
  return b.getArrayAttr(names.getArrayRef());
}

namespace {

/// Gathers what is said of all blocks.
struct Description {
  int64_t exchanges = 0, calls = 0;
  SmallVector<Attribute> merged;
  llvm::MapVector<StringRef, SmallVector<Operation *>> refused;

  void add(Builder &b, const BlockExchanges &block, const BlockMerges &merges);
  DictionaryAttr finish(Builder &b) const;
};

} // namespace

void Description::add(Builder &b, const BlockExchanges &block, const BlockMerges &merges) {
  exchanges += static_cast<int64_t>(block.exchanges.size());
  calls += static_cast<int64_t>(block.exchanges.size());
  for (ArrayRef<Operation *> ops : merges.merged) {
    calls -= static_cast<int64_t>(ops.size()) - 1;
    double bytes = 0;
    for (Operation *op : ops)
      bytes += estimateBytes(op->getOperand(0));
    NamedAttrList entry;
    entry.set("kind", b.getStringAttr(getCollectiveKind(ops.front())));
    entry.set("exchanges", b.getI64IntegerAttr(static_cast<int64_t>(ops.size())));
    entry.set("bytes", b.getI64IntegerAttr(static_cast<int64_t>(bytes)));
    entry.set("nodes", nameNodes(b, ops, 1));
    merged.push_back(entry.getDictionary(b.getContext()));
  }
  for (auto &[reason, ops] : merges.refused)
    llvm::append_range(refused[reason], ops);
}

DictionaryAttr Description::finish(Builder &b) const {
  SmallVector<Attribute> reasons;
  constexpr size_t mostNodes = 3;
  for (auto &[reason, ops] : refused) {
    NamedAttrList entry;
    entry.set("reason", b.getStringAttr(reason));
    entry.set("exchanges", b.getI64IntegerAttr(static_cast<int64_t>(ops.size())));
    entry.set("nodes", nameNodes(b, ArrayRef(ops).take_front(mostNodes), 1));
    reasons.push_back(entry.getDictionary(b.getContext()));
  }
  NamedAttrList list;
  list.set("exchanges", b.getI64IntegerAttr(exchanges));
  list.set("calls", b.getI64IntegerAttr(calls));
  list.set("merged", b.getArrayAttr(merged));
  list.set("apart", b.getArrayAttr(reasons));
  return list.getDictionary(b.getContext());
}

//===- All blocks ------------------------------------------------------------===//

static std::vector<BlockExchanges> listBlocks(ModuleOp module) {
  std::vector<BlockExchanges> blocks;
  module->walk<WalkOrder::PreOrder>([&](Block *block) {
    if (llvm::any_of(*block, [](Operation &op) { return isCollective(&op); }))
      blocks.emplace_back(*block);
  });
  return blocks;
}

ExchangeMerges chooseMerges(ArrayRef<ModuleOp> ranks, const RankMachine &machine) {
  auto blocks = llvm::map_to_vector(ranks, listBlocks);
  ExchangeMerges result;
  Builder b(ModuleOp(ranks.front()).getContext());
  Description description;
  for (size_t i = 0; i < blocks.front().size(); ++i) {
    std::vector<BlockExchanges> same;
    for (std::vector<BlockExchanges> &rank : blocks)
      same.push_back(rank[i]);
    BlockMerges merges(same, machine);
    merges.choose();
    description.add(b, same.front(), merges);
    llvm::append_range(result.list, merges.merges);
  }
  result.description = description.finish(b);
  return result;
}

//===- Merging ---------------------------------------------------------------===//

/// Puts what needs the result of a member, or is to be behind the merged one for another reason, behind the last member.
static void moveBehind(ArrayRef<Operation *> members, ArrayRef<Operation *> behind) {
  llvm::DenseSet<Operation *> moved(members.begin(), members.end());
  Operation *last = members.back(), *end = last;
  for (Operation *op = members.front()->getNextNode(), *next = nullptr; op != last; op = next) {
    next = op->getNextNode();
    bool goes = llvm::is_contained(behind, op);
    eachOperand(op, [&](Value operand) { goes |= operand.getDefiningOp() && moved.contains(operand.getDefiningOp()); });
    if (!goes || llvm::is_contained(members, op))
      continue;
    moved.insert(op);
    op->moveAfter(end);
    end = op;
  }
}

static void merge(ArrayRef<Operation *> members) {
  Operation *first = members.front();
  OpBuilder b(members.back());
  SmallVector<Value> inputs, results;
  SmallVector<Location> locations;
  for (Operation *op : members) {
    inputs.push_back(op->getOperand(0));
    results.push_back(op->getResult(0));
    locations.push_back(op->getLoc());
  }
  OperationState state(b.getFusedLoc(locations), MergedExchangeOp::getOperationName());
  state.addOperands(inputs);
  state.addTypes(ValueRange(results).getTypes());
  state.addAttributes(first->getAttrs());
  state.addAttribute("kind", b.getStringAttr(getCollectiveKind(first)));
  Operation *made = b.create(state);
  for (auto [op, result] : llvm::zip_equal(members, made->getResults()))
    op->getResult(0).replaceAllUsesWith(result);
  for (Operation *op : members)
    op->erase();
}

void mergeExchanges(ModuleOp rank, const ExchangeMerges &merges) {
  DenseMap<int64_t, Operation *> byNumber;
  rank->walk([&](Operation *op) {
    if (isCollective(op))
      byNumber[*getCollectiveNumber(op)] = op;
  });
  auto find = [&](ArrayRef<int64_t> numbers) { return llvm::map_to_vector(numbers, [&](int64_t number) { return byNumber.lookup(number); }); };
  for (const ExchangeMerges::Merge &one : merges.list) {
    SmallVector<Operation *> members = find(one.members);
    moveBehind(members, find(one.behind));
    merge(members);
  }
  if (!merges.list.empty())
    numberCollectives(rank);
}

namespace {
struct MergeExchanges : impl::MergeExchangesBase<MergeExchanges> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ExchangeMerges merges = chooseMerges(module, RankMachine::of(kernel::getTarget(module)));
    NamedAttrList sharding(module->getAttrOfType<DictionaryAttr>(shardingAttrName));
    sharding.set("exchanges", merges.description);
    module->setAttr(shardingAttrName, sharding.getDictionary(module.getContext()));
    mergeExchanges(module, merges);
  }
};
} // namespace

} // namespace kiln
