//===- EntryRows.cpp - What a run launches, and the memory that it uses ------===//
#include "compiler/report/EntryRows.h"
#include "compiler/Decisions.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Work.h"
#include "dialects/nn/ConstantData.h"
#include "passes/kernel/BufferLives.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {

/// What a dynamic dimension counts as where nobody gives its size.
static constexpr int64_t typicalSymbol = 64;

namespace {
class Reader {
public:
  Reader(const Signature &signature, const DimSizes &given) : signature(signature), symbols(signature.module()) { setSizes(given); }
  EntryRows read();

private:
  void setSizes(const DimSizes &given);
  std::optional<int64_t> evaluate(Value number);
  Attribute fold(Value number);
  void readWork(kernel::LaunchOp launch, LaunchRow &row);
  void readOperands(kernel::LaunchOp launch, LaunchRow &row);
  void readContext(kernel::LaunchOp launch, LaunchRow &row);
  /// -1 for what is no buffer of the model's.
  int64_t findBuffer(Value operand);
  std::optional<BufferRow> describeBuffer(Value buffer);
  /// -1 if the run alone knows it.
  int64_t countElements(const SignatureTensor &tensor);
  void use(Operation *user, int64_t time);
  void extendLives();

  const Signature &signature;
  SymbolTable symbols;
  EntryRows rows;
  DenseMap<Value, Attribute> known;
  DenseMap<Value, int64_t> numbers;
  /// The first and the last launch of each loop.
  std::vector<std::pair<int64_t, int64_t>> loops;
};
} // namespace

void Reader::setSizes(const DimSizes &given) {
  Block &block = signature.entry.getBody().front();
  unsigned first = signature.inputs.size() + signature.outputs.size() + 1;
  for (auto [i, symbol] : llvm::enumerate(signature.givenSymbols())) {
    auto found = given.find(symbol.onnxName);
    int64_t size = found != given.end() ? found->second : std::clamp(typicalSymbol, symbol.min, symbol.max);
    rows.sizes[symbol.onnxName] = size;
    if (first + i < block.getNumArguments())
      known[block.getArgument(first + i)] = Builder(block.getParentOp()->getContext()).getIndexAttr(size);
  }
}

/// The number with the sizes in place of the symbols; null if the run alone knows it.
Attribute Reader::fold(Value number) {
  if (auto found = known.find(number); found != known.end())
    return found->second;
  known[number] = Attribute();
  Operation *op = number.getDefiningOp();
  if (!op || !isa<arith::ArithDialect>(op->getDialect()))
    return Attribute();
  auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return fold(operand); });
  SmallVector<OpFoldResult> folded;
  if (llvm::is_contained(operands, Attribute()) || failed(op->fold(operands, folded)) || folded.size() != 1)
    return Attribute();
  auto same = dyn_cast<Value>(folded.front());
  Attribute result = same ? fold(same) : cast<Attribute>(folded.front());
  return known[number] = result;
}

std::optional<int64_t> Reader::evaluate(Value number) {
  auto integer = dyn_cast_or_null<IntegerAttr>(fold(number));
  return integer ? std::optional(integer.getInt()) : std::nullopt;
}

void Reader::readWork(kernel::LaunchOp launch, LaunchRow &row) {
  if (launch.getFlops() && launch.getBytes()) {
    row.flops = static_cast<int64_t>(*launch.getFlops());
    row.bytes = static_cast<int64_t>(*launch.getBytes());
    return;
  }
  std::optional<AffineMap> work = kernel::getWork(launch);
  if (!work)
    return;
  SmallVector<AffineExpr> sizes;
  for (Value operand : launch.getOperands_().take_back(work->getNumSymbols())) {
    std::optional<int64_t> size = evaluate(operand);
    // What the model computes is at most as large as what it was given, mostly.
    sizes.push_back(getAffineConstantExpr(size.value_or(typicalSymbol), launch.getContext()));
  }
  auto count = [&](unsigned result) {
    auto number = dyn_cast<AffineConstantExpr>(work->getResult(result).replaceSymbols(sizes));
    return number ? number.getValue() : -1;
  };
  row.flops = count(0);
  row.bytes = count(1);
}

/// What stands around a launch: conditions, and loops.
void Reader::readContext(kernel::LaunchOp launch, LaunchRow &row) {
  for (Operation *parent = launch->getParentOp(); parent != signature.entry; parent = parent->getParentOp()) {
    row.isConditional |= isa<scf::IfOp, scf::IndexSwitchOp>(parent);
    if (isa<scf::WhileOp>(parent))
      row.calls = -1;
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || row.calls < 0)
      continue;
    std::optional<int64_t> low = evaluate(loop.getLowerBound()), high = evaluate(loop.getUpperBound()), step = evaluate(loop.getStep());
    row.calls = low && high && step && *step > 0 ? row.calls * std::max<int64_t>(0, llvm::divideCeilSigned(*high - *low, *step)) : -1;
  }
}

/// The name of the last ONNX node, or of the tensor, that a location names.
static std::string nameOf(Location location) {
  auto nodes = listNodes(location);
  return nodes.empty() ? "" : nodes.back().str();
}

int64_t Reader::countElements(const SignatureTensor &tensor) {
  AffineExpr count = getAffineConstantExpr(1, tensor.type.getContext());
  for (AffineExpr dim : tensor.dims)
    count = count * dim;
  for (const SignatureSymbol &symbol : signature.givenSymbols()) {
    AffineExpr size = getAffineConstantExpr(rows.sizes[symbol.onnxName], tensor.type.getContext());
    count = count.replace(getAffineSymbolExpr(symbol.position, tensor.type.getContext()), size);
  }
  auto number = dyn_cast<AffineConstantExpr>(count);
  return number ? number.getValue() : -1;
}

std::optional<BufferRow> Reader::describeBuffer(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return std::nullopt;
  BufferRow row;
  row.element = elementName(type.getElementType());
  int64_t width = nn::elementBytes(type.getElementType());
  if (type.hasStaticShape())
    row.bytes = type.getNumElements() * width;
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    size_t position = argument.getArgNumber(), inputs = signature.inputs.size();
    if (argument.getOwner()->getParentOp() != signature.entry || position >= inputs + signature.outputs.size())
      return std::nullopt;
    const SignatureTensor &tensor = position < inputs ? signature.inputs[position] : signature.outputs[position - inputs];
    row.kind = position < inputs ? "input" : "output";
    row.name = tensor.onnxName;
    if (int64_t elements = countElements(tensor); row.bytes < 0 && elements >= 0)
      row.bytes = elements * width;
    return row;
  }
  if (auto weight = buffer.getDefiningOp<kernel::GetWeightOp>()) {
    row.kind = "weight";
    row.name = weight.getWeight().str();
    return row;
  }
  auto view = buffer.getDefiningOp<memref::ViewOp>();
  if (!view)
    return std::nullopt;
  row.kind = "arena";
  row.name = nameOf(view.getLoc());
  if (std::optional<int64_t> offset = evaluate(view.getByteShift()))
    row.offset = *offset;
  if (std::optional<int64_t> count = view.getSizes().size() == 1 ? evaluate(view.getSizes().front()) : std::nullopt)
    row.bytes = *count * width;
  return row;
}

int64_t Reader::findBuffer(Value operand) {
  Value buffer = skipCasts(operand);
  if (auto found = numbers.find(buffer); found != numbers.end())
    return found->second;
  std::optional<BufferRow> row = describeBuffer(buffer);
  if (!row)
    return numbers[buffer] = -1;
  rows.buffers.push_back(std::move(*row));
  return numbers[buffer] = static_cast<int64_t>(rows.buffers.size()) - 1;
}

/// Notes that the buffers among the operands are in use.
void Reader::use(Operation *user, int64_t time) {
  for (Value operand : user->getOperands()) {
    int64_t number = findBuffer(operand);
    if (number < 0)
      continue;
    BufferRow &buffer = rows.buffers[number];
    buffer.first = buffer.first < 0 ? time : std::min(buffer.first, time);
    buffer.last = std::max(buffer.last, time);
  }
}

void Reader::readOperands(kernel::LaunchOp launch, LaunchRow &row) {
  auto callee = symbols.lookup<func::FuncOp>(launch.getKernel());
  for (auto [i, operand] : llvm::enumerate(launch.getOperands_())) {
    int64_t number = findBuffer(operand);
    // The cell in which a kernel reports a fault is no value of the model.
    if (number < 0 || !callee || callee.getArgAttr(i, kernel::statusAttrName))
      continue;
    std::vector<int64_t> &list = callee.getArgAttr(i, kernel::writtenAttrName) ? row.writes : row.reads;
    if (!llvm::is_contained(list, number))
      list.push_back(number);
  }
}

/// A buffer that a loop shares with what is around it is in use throughout the loop.
void Reader::extendLives() {
  for (auto [first, last] : loops)
    for (BufferRow &buffer : rows.buffers) {
      bool isInside = buffer.first >= first && buffer.last <= last, isApart = buffer.last < first || buffer.first > last;
      if (isInside || isApart)
        continue;
      buffer.first = std::min(buffer.first, first);
      buffer.last = std::max(buffer.last, last);
    }
}

EntryRows Reader::read() {
  Block &block = signature.entry.getBody().front();
  // Inputs and outputs come first, in the signature's order.
  for (BlockArgument argument : block.getArguments().take_front(signature.inputs.size() + signature.outputs.size()))
    findBuffer(argument);
  std::vector<std::pair<Operation *, int64_t>> open;
  signature.entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    int64_t time = static_cast<int64_t>(rows.launches.size());
    if (isa<LoopLikeOpInterface>(op))
      open.emplace_back(op, time);
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (!launch) {
      if (!isa<memref::CastOp, memref::ViewOp>(op))
        use(op, std::max<int64_t>(0, time - 1));
      return;
    }
    LaunchRow row{launch.getLoc(), launch.getKernel().str(), launch->getAttrOfType<ArrayAttr>(kernel::nodesAttrName)};
    row.isParallel = launch.getParallel();
    readWork(launch, row);
    readContext(launch, row);
    readOperands(launch, row);
    use(launch, time);
    rows.launches.push_back(std::move(row));
  });
  for (auto [loop, first] : open) {
    int64_t count = 0;
    loop->walk([&](kernel::LaunchOp) { ++count; });
    if (count)
      loops.emplace_back(first, first + count - 1);
  }
  extendLives();
  return std::move(rows);
}

EntryRows readEntry(const Signature &signature, const DimSizes &given) { return Reader(signature, given).read(); }

} // namespace kiln
