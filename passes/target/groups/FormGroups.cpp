//===- FormGroups.cpp - Operations that become one kernel ------------------===//
//
//   %c = nn.matmul %x, %w                      %r = nn.group(%x, %w, %b) {
//   %b1 = nn.broadcast_to %b           =>        %c = nn.matmul %x, %w   (anchor)
//   %s = nn.add %c, %b1                          %b1 = nn.broadcast_to %b
//   %r = nn.relu %s                              ... nn.yield %r }
//
// 0. Convolutions that gain by running line by line together become one group (StripChains.h), and so do a product or a scan and the softmax whose
//    rows they have in the cache (RowFusion.h). A maximum and a minimum of one tensor share its walk, with what is computed from both.
// 1. Each anchor takes the element-wise operations that follow it (epilogue) while they do not depend on it by another way: one after another, or by several
//    ways that meet again. What goes to a library takes only what the library can do besides.
// 2. Each group takes producers that are cheap to compute on load (prologue): views and generators always, element-wise operations when this is their only use.
// 3. What is left becomes groups of its own from the consumers upwards.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/Permute.h"
#include "dialects/nn/Ranks.h"
#include "passes/Passes.h"
#include "passes/target/choice/KernelTable.h"
#include "passes/target/groups/BlockResults.h"
#include "passes/target/groups/Epilogue.h"
#include "passes/target/groups/Prologue.h"
#include "passes/target/groups/RowFusion.h"
#include "passes/target/groups/StripChains.h"
#include "passes/target/choice/LibraryMapping.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_FORMGROUPS
#include "passes/Passes.h.inc"

using namespace nn;

namespace {

using Members = llvm::SetVector<Operation *>;

/// A group stops growing here: values are computed by recursion over its operations, and a longer chain gains nothing more.
constexpr size_t largestGroup = 256;
/// Operations that are looked at to find out whether one depends on a group; where that does not tell, it does.
constexpr size_t mostVisited = 4096;
/// Indices at which a group computes one value for one element of its result: views of views of shared values have no end.
constexpr size_t mostIndices = 64;

class Grouping {
public:
  Grouping(Block &block, bool fuse, bool explain) : block(block), fuse(fuse) {
    if (explain && fuse)
      refusals = listSoftmaxRefusals(block, kernel::getTarget(block.getParentOp()));
  }
  void run();

private:
  bool isFree(Operation *op) const { return op && op->getBlock() == &block && !isStructure(op) && !owner.count(op); }
  static bool isStructure(Operation *op) { return isa<ConstantOp, ReshapeOp, GroupOp, ChooseOp, LoopOp>(op) || op->hasTrait<OpTrait::IsTerminator>(); }
  /// Cheap enough to be computed again by each user. Integers take a quarter of the memory of the numbers that they stand for.
  static bool isCheap(Operation *op) { return isPointwise(op) && (isa<DequantizeOp>(op) || !isa<ScalarBody, ReshapeOp>(op)); }
  bool dependsOn(Operation *op, unsigned group) const;
  void addStrips();
  void addRows(Operation *first, Operation *second, GroupForm form);
  void addShortlist(Operation *gather, Operation *product);
  void addRowFusions();
  void addExtremes();
  Operation *lastAnchor(unsigned group) const {
    auto anchors = llvm::make_filter_range(groups[group], [](Operation *op) { return !isPointwise(op); });
    return anchors.empty() ? groups[group].front() : *std::prev(anchors.end());
  }
  void addEpilogue(unsigned group, Operation *last);
  Operation *addBranches(unsigned group, Operation *last);
  bool fitsEpilogue(Operation *op, unsigned group) const;
  bool dequantizesOnLoad(Operation *op, unsigned group) const;
  void addPrologue(unsigned group);
  unsigned addGroup(Operation *root) {
    groups.emplace_back();
    roots.push_back(root);
    take(root, groups.size() - 1);
    return groups.size() - 1;
  }
  void insert(Operation *op, unsigned group) {
    if (groups[group].insert(op))
      holders[op].push_back(group);
  }
  void take(Operation *op, unsigned group) {
    insert(op, group);
    owner[op] = group;
  }
  /// Undoes take() of the operation that the group took last.
  void giveBack(Operation *op, unsigned group) {
    groups[group].remove(op);
    holders.erase(op);
    owner.erase(op);
  }
  bool isRefused(Operation *op, Operation *user) const;
  Operation *findRepeated(unsigned group) const;
  void evict(Operation *op, unsigned group);
  void growGroups(unsigned first);
  void addLeftOver();
  llvm::DenseSet<Value> wantedValues() const;
  bool evictShared();
  void materialize(unsigned group, const llvm::DenseSet<Value> &wanted);

  Block &block;
  bool fuse;
  std::vector<Members> groups;
  /// Those that are not plain.
  llvm::DenseMap<unsigned, GroupForm> forms;
  /// Those of a maximum and a minimum: each value of the epilogue may be a result, and what they read lies in memory.
  llvm::DenseSet<unsigned> extremes;
  /// The operation of each group that computes its result: the last of the epilogue.
  std::vector<Operation *> roots;
  llvm::DenseMap<Operation *, unsigned> owner;
  /// All groups that compute an operation.
  llvm::DenseMap<Operation *, SmallVector<unsigned, 1>> holders;
  /// Anchors that go to a library.
  llvm::DenseSet<Operation *> mapped;
  /// For users that ask: why products and softmaxes with groups of their own do not share one.
  llvm::DenseMap<Operation *, std::string> refusals;
};

} // namespace

/// Whether `op` may need a value of the group by a way that leaves it.
bool Grouping::dependsOn(Operation *op, unsigned group) const {
  // The result of a group is its last operation's, so nothing before the first one of `group` leads to it.
  Operation *first = groups[group].front();
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> work{op};
  while (!work.empty()) {
    Operation *at = work.pop_back_val();
    if (!at || at->getBlock() != &block || at->isBeforeInBlock(first) || !seen.insert(at).second)
      continue;
    auto own = owner.find(at);
    if ((own != owner.end() && own->second == group) || seen.size() > mostVisited)
      return true;
    // A group stands and falls together: its other members' operands count, too.
    ArrayRef<Operation *> together = own != owner.end() ? groups[own->second].getArrayRef() : ArrayRef<Operation *>(at);
    seen.insert(together.begin(), together.end());
    for (Operation *member : together)
      for (Value operand : member->getOperands())
        work.push_back(operand.getDefiningOp());
  }
  return false;
}

bool Grouping::fitsEpilogue(Operation *op, unsigned group) const {
  Operation *anchor = lastAnchor(group);
  if (mapped.contains(anchor) && !goesAlong(anchor, roots[group], op))
    return false;
  if (!isFree(op) || !canFollow(anchor, op))
    return false;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    auto own = owner.find(def);
    if (own != owner.end() && own->second == group)
      continue;
    if (dependsOn(def, group))
      return false;
  }
  return true;
}

/// Whether users of dequantised numbers, which follow the group, read the bytes and dequantise by themselves: several users, and one that does not
/// become part of the group itself.
bool Grouping::dequantizesOnLoad(Operation *op, unsigned group) const {
  if (!op->hasOneUse())
    return true;
  OpOperand &use = *op->use_begin();
  Operation *user = use.getOwner();
  if (isStructure(user))
    return false;
  if (!isPointwise(user))
    return getPrologueSupport(user, use.getOperandNumber()) == PrologueSupport::All;
  auto isMember = [&](Value operand) { return operand == use.get() || !dependsOn(operand.getDefiningOp(), group); };
  return !isFree(user) || !canFollow(lastAnchor(group), user) || !llvm::all_of(user->getOperands(), isMember);
}

/// Adds what is computed from `last` by several ways up to where they meet, which is returned; null, and the group as it was, if it cannot.
Operation *Grouping::addBranches(unsigned group, Operation *last) {
  SmallVector<Operation *> taken;
  Operation *meeting = followBranches(last, [&](Operation *op) {
    // Indices are the same along all ways, and a library has no branches. Users of dequantised numbers read the bytes.
    if (!isa<ScalarBody>(op) || isa<DequantizeOp>(op) || mapped.contains(lastAnchor(group)) || !fitsEpilogue(op, group))
      return false;
    take(taken.emplace_back(op), group);
    return groups[group].size() < largestGroup;
  });
  if (meeting)
    return roots[group] = meeting;
  for (Operation *op : llvm::reverse(taken))
    giveBack(op, group);
  return nullptr;
}

/// Adds the element-wise operations that follow `last`, a member of the group.
void Grouping::addEpilogue(unsigned group, Operation *last) {
  Operation *anchor = lastAnchor(group);
  if (!fuse || anchor->getNumResults() != 1 || getEpilogueSupport(anchor) == EpilogueSupport::None)
    return;
  // Follows the value as long as it has one consumer that fits, or several that meet again; other users end the chain, so that a group has one result.
  while (true) {
    llvm::SmallSetVector<Operation *, 4> users(last->user_begin(), last->user_end());
    if (users.empty() || groups[group].size() >= largestGroup)
      return;
    if (users.size() > 1) {
      if (last = addBranches(group, last); !last)
        return;
      continue;
    }
    // Another name for the same sizes is passed over if something follows it.
    if (auto reshape = dyn_cast<ReshapeOp>(users.front()); reshape && reshape->getBlock() == &block && reshape->hasOneUse() && onlyRenamesSizes(reshape)) {
      take(reshape, group);
      if (fitsEpilogue(*reshape->user_begin(), group)) {
        last = roots[group] = reshape;
        continue;
      }
      giveBack(reshape, group);
      return;
    }
    if (!fitsEpilogue(users.front(), group) || (isa<DequantizeOp>(users.front()) && dequantizesOnLoad(users.front(), group)))
      return;
    last = roots[group] = users.front();
    take(last, group);
  }
}

/// Groups of several anchors: convolutions that run line by line together.
void Grouping::addStrips() {
  kernel::TargetAttr target = kernel::getTarget(block.getParentOp());
  for (Operation &op : block) {
    auto expand = dyn_cast<ConvOp>(op);
    std::optional<StripChain> chain = expand && fuse && isFree(expand) ? findStripChain(expand, target) : std::nullopt;
    if (!chain || mapped.contains(chain->expand) || mapped.contains(chain->depthwise))
      continue;
    unsigned group = addGroup(expand);
    addEpilogue(group, expand);
    // An epilogue that could not be had leaves the expansion alone.
    if (roots[group] != (chain->pad ? chain->pad.getInput() : chain->depthwise.getInput()).getDefiningOp())
      continue;
    forms[group] = GroupForm::Strips;
    if (chain->pad)
      take(chain->pad, group);
    auto add = [&](ConvOp conv) {
      take(conv, group);
      roots[group] = conv;
      addEpilogue(group, conv);
    };
    add(chain->depthwise);
    Value filtered = roots[group]->getResult(0);
    auto project = filtered.hasOneUse() ? dyn_cast<ConvOp>(*filtered.user_begin()) : ConvOp();
    if (project && project.getInput() == filtered && isStripProjection(project) && !mapped.contains(project))
      add(project);
  }
}

/// A group of two anchors, with what lies between them; the second one stays out when that could not be had.
void Grouping::addRows(Operation *first, Operation *second, GroupForm form) {
  unsigned group = addGroup(first);
  addEpilogue(group, first);
  bool follows = llvm::all_of(roots[group]->getUsers(), [&](Operation *user) { return user == second; });
  if (!follows || !isFree(second))
    return;
  take(second, group);
  forms[group] = form;
  roots[group] = second;
  addEpilogue(group, second);
}

/// A gather and the product of what it picks, with what lies between them. Each value on the way has one use, so that nothing else depends on it.
void Grouping::addShortlist(Operation *gather, Operation *product) {
  SmallVector<Operation *> chain;
  for (Operation *op = gather; op != product; op = *op->user_begin())
    chain.push_back(op);
  chain.push_back(product);
  if (!llvm::all_of(chain, [&](Operation *op) { return isFree(op) && !mapped.contains(op); }))
    return;
  unsigned group = addGroup(gather);
  for (Operation *op : ArrayRef(chain).drop_front())
    take(op, group);
  forms[group] = GroupForm::GatheredProduct;
  roots[group] = product;
  addEpilogue(group, product);
}

void Grouping::addRowFusions() {
  kernel::TargetAttr target = kernel::getTarget(block.getParentOp());
  using Find = Operation *(*)(Operation *, kernel::TargetAttr);
  std::pair<Find, GroupForm> fusions[] = {{findProductOfGather, GroupForm::GatheredProduct},
                                          {findSoftmaxOfProduct, GroupForm::ProductSoftmax},
                                          {findScanOfSoftmax, GroupForm::SoftmaxScan}};
  for (auto [find, form] : fusions)
    for (Operation &op : block)
      if (Operation *second = fuse && isFree(&op) ? find(&op, target) : nullptr; second && !mapped.contains(&op) && !mapped.contains(second))
        addRows(&op, second, form);
  for (Operation &op : block)
    if (Operation *product = fuse && isFree(&op) ? findProductOfColumns(&op, target) : nullptr)
      addShortlist(&op, product);
}

/// The group has several results, so all that is computed from the two follows them.
void Grouping::addExtremes() {
  for (Operation &op : block) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!fuse || !reduce || !isFree(&op) || mapped.contains(&op))
      continue;
    auto others = llvm::make_filter_range(reduce.getInput().getUsers(), [&](Operation *user) {
      return isFree(user) && areExtremes(&op, user) && !mapped.contains(user);
    });
    if (others.empty())
      continue;
    unsigned group = addGroup(&op);
    extremes.insert(group);
    take(*others.begin(), group);
    for (size_t i = 0; i < groups[group].size() && groups[group].size() < largestGroup; ++i)
      for (Operation *user : groups[group][i]->getUsers())
        if (!isa<DequantizeOp>(user) && fitsEpilogue(user, group))
          take(user, group);
  }
}

void Grouping::addPrologue(unsigned group) {
  Operation *anchor = isPointwise(groups[group].front()) ? nullptr : groups[group].front();
  bool isMapped = anchor && mapped.contains(anchor);
  SmallVector<Operation *> work;
  if (fuse)
    work.append(groups[group].begin(), groups[group].end());
  llvm::SmallPtrSet<Operation *, 8> underViews;
  llvm::SmallPtrSet<Operation *, 4> loaded;
  if (anchor && !isMapped)
    loaded = findLoaded(anchor);
  while (!work.empty() && groups[group].size() < largestGroup) {
    Operation *member = work.pop_back_val();
    bool limited = underViews.contains(member);
    for (OpOperand &operand : member->getOpOperands()) {
      Operation *producer = operand.get().getDefiningOp();
      if (!producer || producer->getBlock() != &block || isStructure(producer) || !isPointwise(producer))
        continue;
      PrologueSupport support = limited ? PrologueSupport::Views : PrologueSupport::All;
      // What the rows of a product are computed from would be computed for each column.
      if (operand.getOperandNumber() == 0 && !isPointwise(member) && member != anchor && forms.lookup_or(group, GroupForm::Plain) == GroupForm::GatheredProduct)
        support = PrologueSupport::Views;
      if (isMapped)
        support = member == anchor && !isa<MatmulOp>(anchor) ? PrologueSupport::None : PrologueSupport::Views;
      else if (member == anchor)
        support = getPrologueSupport(anchor, operand.getOperandNumber());
      if (support == PrologueSupport::None || groups[group].contains(producer) || loaded.contains(producer))
        continue;
      bool isView = isa<IndexMap>(producer);
      if (support == PrologueSupport::Views && !isView)
        continue;
      bool cheap = isCheap(producer);
      bool onlyHere = !extremes.contains(group) && llvm::all_of(producer->getUsers(), [&](Operation *user) { return groups[group].contains(user); });
      if (!cheap && (!onlyHere || owner.count(producer)))
        continue;
      insert(producer, group);
      if (!cheap)
        owner[producer] = group;
      if (support == PrologueSupport::Views)
        underViews.insert(producer);
      work.push_back(producer);
    }
  }
}

/// Values that a group or an operation outside of all groups reads from memory.
llvm::DenseSet<Value> Grouping::wantedValues() const {
  llvm::DenseSet<Value> wanted;
  for (const Members &members : groups)
    for (Operation *member : members)
      for (Value operand : member->getOperands())
        if (!members.contains(operand.getDefiningOp()))
          wanted.insert(operand);
  for (Operation &op : block)
    if (isStructure(&op) && !owner.count(&op))
      wanted.insert(op.operand_begin(), op.operand_end());
  return wanted;
}

/// Makes a producer that a group computes on load a group of its own; what its old group computed only for it becomes free again.
void Grouping::evict(Operation *evicted, unsigned group) {
  Members kept;
  SmallVector<Operation *> work{roots[group], groups[group].front()};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (op == evicted || !groups[group].contains(op) || !kept.insert(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        work.push_back(producer);
  }
  Members ordered;
  for (Operation *op : groups[group]) {
    if (kept.contains(op)) {
      ordered.insert(op);
      continue;
    }
    llvm::erase(holders[op], group);
    if (auto own = owner.find(op); own != owner.end() && own->second == group)
      owner.erase(own);
  }
  groups[group] = ordered;
  addGroup(evicted);
}

/// A producer may turn out to be wanted in memory by another group, by way of a view that both compute: it becomes a group of its own. Returns
/// whether there was one.
bool Grouping::evictShared() {
  llvm::DenseSet<Value> wanted = wantedValues();
  for (unsigned group = 0, count = groups.size(); group < count; ++group) {
    auto *shared = llvm::find_if(groups[group], [&](Operation *op) {
      auto own = owner.find(op);
      bool isOwn = own != owner.end() && own->second == group && !extremes.contains(group);
      return op != roots[group] && isOwn && op->getNumResults() == 1 && wanted.contains(op->getResult(0));
    });
    if (shared == groups[group].end())
      continue;
    evict(*shared, group);
    growGroups(count);
    return true;
  }
  return false;
}

/// An element-wise member that the group computes at too many indices for one element of its result; null when there is none.
Operation *Grouping::findRepeated(unsigned group) const {
  using Index = SmallVector<AffineExpr, 4>;
  SmallVector<Operation *> ordered(groups[group].begin(), groups[group].end());
  bool hasView = llvm::any_of(ordered, [](Operation *op) { return isa<IndexMap>(op) && isPointwise(op); });
  if (!hasView || llvm::all_of(ordered, [](Operation *op) { return op->hasOneUse(); }))
    return nullptr;
  llvm::sort(ordered, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  llvm::DenseMap<Operation *, SmallVector<Index, 1>> indices;
  auto add = [&](Value value, const Index &index) {
    Operation *op = value.getDefiningOp();
    if (op && groups[group].contains(op) && indices[op].size() <= mostIndices && !llvm::is_contained(indices[op], index))
      indices[op].push_back(index);
  };
  unsigned next = 0;
  for (Operation *op : ordered) {
    SmallVector<Index, 1> at = indices.lookup(op);
    // What costs nothing, such as a view of an input, stays.
    if (auto own = owner.find(op); at.size() > mostIndices && own != owner.end() && own->second == group && op != roots[group])
      return op;
    auto view = dyn_cast<IndexMap>(op);
    AffineMap map = view ? view.getIndexMap() : AffineMap();
    for (Value operand : op->getOperands()) {
      unsigned rank = cast<RankedTensorType>(operand.getType()).getRank();
      // Roots and anchors read their operands at indices of their own.
      if (!isPointwise(op) || at.empty() || (!map && !isa<ScalarBody>(op))) {
        Index fresh;
        for (unsigned i = 0; i < rank; ++i)
          fresh.push_back(getAffineDimExpr(next + i, op->getContext()));
        next += isa<ScalarBody>(op) ? 0 : rank;
        add(operand, fresh);
        continue;
      }
      for (const Index &index : at) {
        Index source(index);
        if (map)
          source = llvm::map_to_vector<4>(map.getResults(), [&](AffineExpr expr) { return simplifyDim(expr.replaceDims(index)); });
        add(operand, source);
      }
    }
  }
  return nullptr;
}

/// Gives the groups from `first` on their producers; there may be more of them in the end.
void Grouping::growGroups(unsigned first) {
  for (unsigned group = first; group < groups.size(); ++group) {
    addPrologue(group);
    while (Operation *op = findRepeated(group))
      evict(op, group);
  }
}

void Grouping::materialize(unsigned group, const llvm::DenseSet<Value> &wanted) {
  Members &members = groups[group];
  SmallVector<Operation *> ordered(members.begin(), members.end());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  // Only values that others need are results; cheap members are computed again elsewhere, so their other users do not count.
  llvm::SetVector<Value> inputs, results;
  for (Operation *op : ordered) {
    for (Value operand : op->getOperands())
      if (!members.contains(operand.getDefiningOp()))
        inputs.insert(operand);
    auto own = owner.find(op);
    if (own == owner.end() || own->second != group)
      continue;
    // A kernel with several results writes them all, so that its passes can count on every buffer; shapes want sizes, and other ranks a collective.
    bool all = op->getNumResults() > 1 || isa<DataSized>(op) || isCollective(op);
    for (Value result : op->getResults())
      if (all || wanted.contains(result))
        results.insert(result);
  }
  // What was left over for a user that then computes it by itself; it goes with the other operations that have no users left.
  if (results.empty())
    return;
  SmallVector<Location> locations;
  for (Operation *op : ordered)
    if (!isa<BroadcastToOp, SplatOp>(op) || ordered.size() == 1)
      locations.push_back(op->getLoc());
  OpBuilder builder(&block, block.back().getIterator());
  Location loc = FusedLoc::get(builder.getContext(), locations);
  auto op = GroupOp::create(builder, loc, ValueRange(results.getArrayRef()).getTypes(), inputs.getArrayRef(), forms.lookup_or(group, GroupForm::Plain));
  for (Operation *member : ordered)
    if (auto why = refusals.find(member); why != refusals.end() && !forms.contains(group))
      op.setRefusalsAttr(builder.getArrayAttr(
          kernel::RefusalAttr::get(builder.getContext(), stringifyGroupForm(GroupForm::ProductSoftmax), why->second)));
  Block &body = op.getBody().emplaceBlock();
  IRMapping map;
  for (Value input : inputs)
    map.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (Operation *member : ordered)
    builder.clone(*member, map);
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(map.lookup(result));
  YieldOp::create(builder, loc, yielded);
  for (auto [original, to] : llvm::zip(results, op.getResults())) {
    Value from = original;
    from.replaceUsesWithIf(to, [&](OpOperand &use) { return !members.contains(use.getOwner()) && use.getOwner()->getBlock() == &block; });
  }
}

/// A user inside a group has its operands inside as well unless the group refused them.
bool Grouping::isRefused(Operation *op, Operation *user) const {
  auto held = holders.find(user);
  return held != holders.end() && llvm::any_of(held->second, [&](unsigned group) { return !groups[group].contains(op); });
}

void Grouping::addLeftOver() {
  // Consumers first: a producer whose only users are in one group has been taken by it when its turn comes.
  for (Operation &op : llvm::reverse(block)) {
    bool needed = isFree(&op) && llvm::any_of(op.getUsers(), [&](Operation *user) {
      if (isStructure(user))
        return true;
      return isRefused(&op, user);
    });
    if (needed)
      growGroups(addGroup(&op));
  }
}

void Grouping::run() {
  for (Operation &op : block)
    if (goesToLibrary(&op))
      mapped.insert(&op);
  addStrips();
  addRowFusions();
  addExtremes();
  for (Operation &op : block)
    if (isFree(&op) && !isPointwise(&op))
      addGroup(&op);
  for (unsigned group = 0; group < groups.size(); ++group)
    if (!extremes.contains(group))
      addEpilogue(group, groups[group].front());
  growGroups(0);
  do
    addLeftOver();
  while (evictShared());
  llvm::DenseSet<Value> wanted = wantedValues();
  for (unsigned group = 0; group < groups.size(); ++group)
    materialize(group, wanted);
  // Grouped operations have no users left; generators and views that were computed on load go with them. Loops with collectives stay: other ranks wait.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!op.hasTrait<OpTrait::IsTerminator>() && !isa<GroupOp>(op) && op.use_empty() && !(isa<LoopOp>(op) && getCollectiveNumber(&op)))
      op.erase();
}

static void formGroups(Block &block, bool fuse, bool explain) {
  for (auto loop : block.getOps<LoopOp>())
    formGroups(loop.getBody().front(), fuse, explain);
  Grouping(block, fuse, explain).run();
  sortTopologically(&block);
  orderCollectives(block);
  copyBlockResults(block);
}

namespace {
struct FormGroups : impl::FormGroupsBase<FormGroups> {
  using FormGroupsBase::FormGroupsBase;
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      formGroups(function.getBody().front(), fuse, explain);
  }
};
} // namespace
} // namespace kiln
