//===- LowerGroups.cpp - Groups to kernels and the entry -------------------===//
//
//   func.func @main(%x: tensor<4xf32>) {            func.func private @loops_0(%x: memref<4xf32>, %out: memref<4xf32>, %begin, %end)
//     %r = nn.group(%x) {kernel = "loops"}    =>    kernel.entry @run {
//     return %r }                                     kernel.launch @loops_0(%x, %y) tasks(%n) }
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "passes/lowering/entry/EntryBuilder.h"
#include "passes/target/groups/PackedInputs.h"
#include "passes/target/groups/Places.h"

#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_LOWERGROUPS
#include "passes/Passes.h.inc"

using namespace nn;

/// The ONNX nodes of a location, in order and without repetition.
static void collectNodes(Location loc, llvm::SetVector<StringRef> &nodes) {
  if (auto name = dyn_cast<NameLoc>(loc))
    nodes.insert(name.getName());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      collectNodes(part, nodes);
}

static std::string describeShapes(GroupOp group, ArrayAttr symbols) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto print = [&](Type type) {
    stream << getElementTypeOrSelf(type) << '[';
    llvm::interleaveComma(getDims(type), stream, [&](AffineExpr dim) { stream << formatDim(dim, symbols); });
    stream << ']';
  };
  llvm::interleaveComma(group.getInputs().getTypes(), stream, print);
  stream << " -> ";
  llvm::interleaveComma(group.getResultTypes(), stream, print);
  return text;
}

/// Whether a group's input is a constant, possibly with another shape.
static bool isWeight(Value input) {
  while (auto reshape = input.getDefiningOp<ReshapeOp>())
    input = reshape.getInput();
  return input.getDefiningOp<ConstantOp>() != nullptr;
}

static func::FuncOp createKernel(GroupOp group, StringRef name, ArrayAttr symbols, OpBuilder &b) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  auto add = [&](Type type, const Twine &parameter, ArrayRef<StringRef> marks = {}) {
    NamedAttrList attrs;
    attrs.set(kernel::nameAttrName, b.getStringAttr(parameter));
    for (StringRef mark : marks)
      attrs.set(mark, b.getUnitAttr());
    types.push_back(type);
    attributes.push_back(attrs.getDictionary(b.getContext()));
  };
  auto buffer = [&](Type type) -> Type { return MemRefType::get({ShapedType::kDynamic}, memoryType(getElementTypeOrSelf(type))); };
  unsigned inputs = group.getInputs().size(), results = group.getNumResults();
  unsigned constants = llvm::count_if(group.getInputs(), isWeight), variables = inputs - constants, named[2] = {0, 0};
  for (Value input : group.getInputs()) {
    bool constant = isWeight(input);
    std::string number = (constant ? constants : variables) > 1 ? std::to_string(named[constant]++) : "";
    add(buffer(input.getType()), (constant ? "weight" : "in") + number);
  }
  for (auto [i, type] : llvm::enumerate(group.getResultTypes()))
    add(buffer(type), results == 1 ? "out" : "out" + std::to_string(i), kernel::writtenAttrName);
  if (checksValues(group))
    add(MemRefType::get({1}, b.getI32Type()), "status", {kernel::statusAttrName, kernel::writtenAttrName});
  for (Attribute symbol : symbols ? symbols.getValue() : ArrayRef<Attribute>())
    add(b.getIndexType(), cast<StringAttr>(symbol).getValue());
  add(b.getIndexType(), "begin");
  add(b.getIndexType(), "end");
  // All at once: a function's type and the array of its attributes are made anew for each change of one argument.
  auto kernel = func::FuncOp::create(b, group.getLoc(), name, b.getFunctionType(types, {}), {}, attributes);
  kernel.setPrivate();
  kernel.addEntryBlock();
  llvm::SetVector<StringRef> nodes;
  collectNodes(group.getLoc(), nodes);
  kernel->setAttr(kernel::nodesAttrName, b.getStrArrayAttr(nodes.getArrayRef()));
  kernel->setAttr(kernel::algorithmAttrName, b.getStringAttr(group.getKernel()));
  kernel->setAttr(kernel::reasonAttrName, group.getReasonAttr() ? group.getReasonAttr() : b.getStringAttr(""));
  if (ArrayAttr refusals = group.getRefusalsAttr())
    kernel->setAttr(kernel::refusalsAttrName, refusals);
  kernel->setAttr(kernel::shapesAttrName, b.getStringAttr(describeShapes(group, symbols)));
  return kernel;
}

static LogicalResult lowerGroup(GroupOp group, unsigned number, ArrayAttr symbols, OpBuilder &kernels, EntryBuilder &entry, const Guard &guard) {
  if (std::string fault = findPlanFault(group); !fault.empty())
    return kernel::emitRefusal(group) << "expected a plan that its kernel can follow: " << fault;
  const KernelRow *row = findKernelRow(group.getKernel());
  func::FuncOp kernel = createKernel(group, (row->name + "_" + Twine(number)).str(), symbols, kernels);
  KernelBuilder builder(group, kernel);
  // A kernel that says why it cannot has said all.
  bool isSaid = false;
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler listener(group.getContext(), [&](Diagnostic &diagnostic) {
    isSaid |= diagnostic.getSeverity() == DiagnosticSeverity::Error && llvm::get_threadid() == thread;
    return failure();
  });
  FailureOr<LaunchInfo> launch = row->lower(builder, getAnchor(group));
  if (failed(launch) && isSaid)
    return failure();
  if (failed(launch))
    return kernel::emitRefusal(group) << "kernel '" << row->name << "' does not lower this group";
  func::ReturnOp::create(builder.builder(), group.getLoc());
  entry.launch(builder, kernel, *launch, guard);
  return success();
}

/// Rows of a loop are stored behind one another along their axis, by the copies that the body ends with.
static void placeRows(LoopOp loop) {
  MLIRContext *context = loop.getContext();
  unsigned states = loop.getCarried().size();
  AffineExpr step = getAffineSymbolExpr(loop.getStep(), context);
  for (auto [i, axis] : llvm::enumerate(loop.getAxes())) {
    auto copy = loop.getTerminator()->getOperand(states + i).getDefiningOp<GroupOp>();
    DimExprs all = getDims(loop.getResult(states + i).getType());
    SmallVector<AffineExpr> at;
    for (unsigned d = 0; d + 1 < all.size(); ++d)
      at.push_back(getAffineDimExpr(d, context));
    at.insert(at.begin() + axis, loop.getBackwards()[i] ? loop.getStepCount() - 1 - step : step);
    AffineExpr offset = simplifyDim(getDenseMap(all, context).getResult(0).replaceDims(at));
    setPlace(copy, 1, AffineMap::get(all.size() - 1, countSymbols(offset), offset));
  }
}

namespace {
/// Lowers blocks: that of @main, and those of the loops in it.
struct BlockLowering {
  ArrayAttr symbols;
  OpBuilder &kernels;
  EntryBuilder &entry;
  unsigned number = 0;

  LogicalResult lower(Block &block) {
    Guards guards;
    if (failed(guards.compute(block)))
      return failure();
    entry.findHolders(block);
    for (Operation &op : block)
      if (failed(lower(op, guards)))
        return failure();
    return success();
  }

  LogicalResult lower(Operation &op, const Guards &guards) {
    if (isa<ConstantOp, ReshapeOp, ChooseOp, YieldOp, func::ReturnOp>(op))
      return success();
    if (!isa<GroupOp, LoopOp>(op))
      return kernel::emitRefusal(&op) << "expected only constants, reshapes, choices, loops and groups before lowering";
    const Guard &guard = guards.of(&op);
    if (guard.empty())
      return success();
    if (auto group = dyn_cast<GroupOp>(op))
      return needsNoKernel(group) ? success() : lowerGroup(group, number++, symbols, kernels, entry, guard);
    auto loop = cast<LoopOp>(op);
    placeRows(loop);
    entry.beginLoop(loop, guard);
    if (failed(lower(loop.getBody().front())))
      return failure();
    entry.endLoop(loop);
    return success();
  }
};

struct LowerGroups : impl::LowerGroupsBase<LowerGroups> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main) {
      kernel::emitRefusal(module) << "expected a function @main";
      return signalPassFailure();
    }
    auto symbols = module->getAttrOfType<ArrayAttr>(symbolsAttrName);
    OpBuilder kernels(main);
    EntryBuilder entry(main);
    if (failed(BlockLowering{symbols, kernels, entry}.lower(main.getBody().front())) || failed(verifyPanels(main)) || failed(entry.finish()))
      return signalPassFailure();
    main.erase();
  }
};
} // namespace

} // namespace kiln
