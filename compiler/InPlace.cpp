//===- InPlace.cpp - Outputs in the buffers of inputs ----------------------===//
#include "compiler/InPlace.h"
#include "compiler/IRPhases.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Module attribute: pairs of an input and an output that have to be one buffer.
static constexpr llvm::StringLiteral askedAttrName = "nn.asked_in_place";

//===- Which tensors -------------------------------------------------------===//

namespace {
/// What one option asks of one output.
struct Request {
  unsigned input, output;
  /// Of the buffer; 0: the tensors are as large as it.
  int64_t rows;
  /// The option, for messages.
  std::string text;
};
} // namespace

static std::vector<std::string> listNames(func::FuncOp main, bool results) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < (results ? main.getNumResults() : main.getNumArguments()); ++i) {
    auto name = results ? main.getResultAttrOfType<StringAttr>(i, nameAttrName) : main.getArgAttrOfType<StringAttr>(i, nameAttrName);
    names.push_back(name ? name.str() : "");
  }
  return names;
}

/// The part of `name` that matches the star in `pattern`, empty without a star; nullopt if they do not match.
static std::optional<std::string> matchStar(StringRef pattern, StringRef name) {
  auto [head, tail] = pattern.split('*');
  if (!pattern.contains('*'))
    return name == pattern ? std::optional<std::string>("") : std::nullopt;
  if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail))
    return std::nullopt;
  return name.drop_front(head.size()).drop_back(tail.size()).str();
}

static std::string missing(StringRef option, StringRef kind, StringRef name, ArrayRef<std::string> names) {
  std::string list = llvm::join(llvm::map_range(names, [](const std::string &each) { return "'" + each + "'"; }), ", ");
  return ("--in-place=" + option + ": the model has no " + kind + " '" + name + "', it has " + (list.empty() ? "none" : list)).str();
}

/// The input that `text` names, and behind a colon the rows. A name may hold colons itself.
static bool findInput(StringRef text, ArrayRef<std::string> names, Request &request) {
  auto [stem, number] = text.rsplit(':');
  const std::string *found = llvm::find(names, text.str());
  if (found == names.end() && !number.getAsInteger(10, request.rows) && request.rows > 0)
    found = llvm::find(names, stem.str());
  request.input = found - names.begin();
  return found != names.end();
}

static bool readRequests(const CompileOptions &options, func::FuncOp main, std::vector<Request> &requests, std::vector<std::string> &errors) {
  std::vector<std::string> inputs = listNames(main, false), outputs = listNames(main, true);
  for (const std::string &option : options.inPlace) {
    auto [wantedOutput, wantedInput] = StringRef(option).split('=');
    size_t before = requests.size();
    for (auto [i, output] : llvm::enumerate(outputs)) {
      std::optional<std::string> middle = matchStar(wantedOutput, output);
      if (!middle)
        continue;
      std::string input = wantedInput.str();
      if (size_t star = input.find('*'); star != std::string::npos)
        input.replace(star, 1, *middle);
      Request request{0, static_cast<unsigned>(i), 0, "--in-place=" + output + "=" + input};
      if (!findInput(input, inputs, request))
        errors.push_back(missing(option, "input", input, inputs));
      else if (llvm::any_of(requests, [&](const Request &other) { return other.input == request.input || other.output == request.output; }))
        errors.push_back(request.text + ": one of the two is already in another pair");
      requests.push_back(request);
    }
    if (requests.size() == before)
      errors.push_back(missing(option, "output", wantedOutput, outputs));
  }
  return errors.empty();
}

//===- Caches that grow by a concatenation ---------------------------------===//

/// So many rows along `axis`, from `first` on.
static Value sliceRows(OpBuilder &b, Value from, ArrayRef<AffineExpr> dims, unsigned axis, AffineExpr first) {
  SmallVector<AffineExpr> starts(dims.size(), b.getAffineConstantExpr(0));
  SmallVector<int64_t> steps(dims.size(), 1);
  starts[axis] = first;
  auto map = AffineMap::get(0, countSymbols(first), starts, b.getContext());
  return SliceOp::create(b, from.getLoc(), makeTensorType(dims, getElementTypeOrSelf(from.getType())), from, AffineMapAttr::get(map),
                         b.getDenseI64ArrayAttr(steps));
}

/// A run checks that all rows have room.
static LogicalResult checkRoom(ModuleOp module, ConcatOp concat, AffineExpr left, const Request &request) {
  if (auto known = getConstantDim(left))
    return success(*known >= 0);
  SmallVector<AffineExpr> all;
  if (auto constraints = module->getAttrOfType<AffineMapAttr>(constraintsAttrName))
    llvm::append_range(all, constraints.getValue().getResults());
  // Zero exactly when it is not negative: constraints are equations.
  all.push_back(left.floorDiv(int64_t(1) << 40));
  auto symbols = module->getAttrOfType<ArrayAttr>(symbolsAttrName);
  module->setAttr(constraintsAttrName, AffineMapAttr::get(AffineMap::get(0, symbols ? symbols.size() : 0, all, module.getContext())));
  return success();
}

static LogicalResult growBuffer(ModuleOp module, BlockArgument input, OpOperand &result, const Request &request) {
  auto concat = result.get().getDefiningOp<ConcatOp>();
  unsigned axis = concat.getAxis();
  Location loc = concat.getLoc();
  OpBuilder b(concat);
  DimExprs used = getDims(input.getType()), all = getDims(concat.getType()), room = all, added = all;
  room[axis] = b.getAffineConstantExpr(request.rows);
  added[axis] = simplifyDim(all[axis] - used[axis]);
  if (failed(checkRoom(module, concat, simplifyDim(room[axis] - all[axis]), request)))
    return concat.emitError(request.text) << ": the result alone has " << formatDim(all[axis]) << " rows";
  auto whole = makeTensorType(room, getElementTypeOrSelf(concat.getType()));
  input.setType(whole);
  b.setInsertionPointToStart(input.getOwner());
  AffineExpr zero = b.getAffineConstantExpr(0);
  Value past = sliceRows(b, input, used, axis, zero);
  input.replaceAllUsesExcept(past, past.getDefiningOp());
  b.setInsertionPoint(concat);
  SmallVector<Value> parts(concat.getInputs().drop_front());
  Value rows = parts.front();
  if (parts.size() > 1)
    rows = ConcatOp::create(b, loc, makeTensorType(added, whole.getElementType()), parts, b.getI64IntegerAttr(axis));
  // The indices of all rows, of which the new ones are the last: views and generators are computed where they are needed.
  Value index = IotaOp::create(b, loc, makeTensorType(all, b.getI64Type()), b.getI64IntegerAttr(axis));
  Value places = sliceRows(b, index, added, axis, used[axis]);
  result.set(ScatterElementsOp::create(b, loc, whole, input, places, rows, b.getI64IntegerAttr(axis),
                                       ScatterReductionAttr::get(b.getContext(), ScatterReduction::None)));
  concat.getResult().replaceAllUsesWith(sliceRows(b, result.get(), all, axis, zero));
  concat.erase();
  return success();
}

/// Makes the two tensors one in shape, or says why that cannot be.
static LogicalResult prepare(ModuleOp module, func::FuncOp main, const Request &request) {
  BlockArgument input = main.getArgument(request.input);
  OpOperand &result = main.getBody().front().getTerminator()->getOpOperand(request.output);
  auto concat = result.get().getDefiningOp<ConcatOp>();
  bool appends = concat && concat.getInputs().size() > 1 && concat.getInputs().front() == input;
  auto fail = [&](const Twine &why) -> LogicalResult { return emitError(result.get().getLoc(), request.text + ": " + why); };
  if (request.rows > 0)
    return appends ? growBuffer(module, input, result, request) : fail("only the result of a Concat that begins with the input takes a number of rows");
  if (input.getType() == result.get().getType())
    return success();
  return fail(appends ? "the output is longer than the input: say how many rows the buffer has room for, as in --in-place=OUTPUT=INPUT:1024"
                      : "output and input differ in shape or element type");
}

bool prepareInPlace(const CompileOptions &options, ModuleOp module, std::vector<std::string> &errors) {
  if (options.inPlace.empty())
    return true;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  std::vector<Request> requests;
  if (!main) {
    errors.push_back("--in-place: the IR has its kernels chosen already");
    return false;
  }
  if (!readRequests(options, main, requests, errors))
    return false;
  DiagnosticCollector diagnostics(*module.getContext(), errors);
  SmallVector<int64_t> pairs;
  for (const Request &request : requests) {
    if (failed(prepare(module, main, request)))
      return false;
    pairs.append({request.input, request.output});
  }
  Operation *terminator = main.getBody().front().getTerminator();
  main.setFunctionType(FunctionType::get(module.getContext(), main.getBody().front().getArgumentTypes(), terminator->getOperandTypes()));
  module->setAttr(askedAttrName, DenseI64ArrayAttr::get(module.getContext(), pairs));
  return true;
}

//===- What the kernels allow ----------------------------------------------===//

static std::string nameOf(ArrayAttr signature, int64_t position) {
  return cast<StringAttr>(cast<DictionaryAttr>(signature[position]).get("name")).str();
}

/// The launches that take an argument of the entry, in their order.
static SmallVector<kernel::LaunchOp> listLaunches(kernel::EntryOp entry, unsigned argument) {
  SmallVector<kernel::LaunchOp> launches;
  entry.walk<WalkOrder::PreOrder>([&](kernel::LaunchOp launch) {
    for (Value operand : launch.getOperands_()) {
      while (auto cast = operand.getDefiningOp<memref::CastOp>())
        operand = cast.getSource();
      if (operand == entry.getBody().getArgument(argument)) {
        launches.push_back(launch);
        return;
      }
    }
  });
  return launches;
}

static ArrayRef<int64_t> getPairs(Operation *op, StringRef name) {
  auto pairs = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return pairs ? pairs.asArrayRef() : ArrayRef<int64_t>();
}

static bool hasPair(ArrayRef<int64_t> pairs, int64_t input, int64_t output) {
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i] == input && pairs[i + 1] == output)
      return true;
  return false;
}

/// Says at the launch that is in the way why the two cannot be one buffer.
static void explain(kernel::EntryOp entry, int64_t input, int64_t output) {
  std::string in = nameOf(entry.getInputs(), input), out = nameOf(entry.getOutputs(), output), option = "--in-place=" + out + "=" + in + ": ";
  SmallVector<kernel::LaunchOp> readers = listLaunches(entry, input), writers = listLaunches(entry, entry.getInputs().size() + output);
  if (writers.empty() || readers.empty()) {
    entry.emitError(option) << "no kernel " << (writers.empty() ? "writes '" + out : "reads '" + in) << "' at run time";
    return;
  }
  kernel::LaunchOp writer = writers.front(), last = readers.back();
  if (!llvm::is_contained(readers, writer))
    writer.emitError(option) << "the output is computed from other values than the input";
  else if (last != writer)
    last.emitError(option) << "its kernel reads the input after the output has been written";
  else
    writer.emitError(option) << "its kernel " << writer.getKernel() << " does not read every element before it writes there";
}

bool checkInPlace(ModuleOp module, std::vector<std::string> &errors) {
  ArrayRef<int64_t> asked = getPairs(module, askedAttrName);
  DiagnosticCollector diagnostics(*module.getContext(), errors);
  bool possible = true;
  for (auto entry : module.getOps<kernel::EntryOp>())
    for (size_t i = 0; i + 1 < asked.size(); i += 2)
      if (!hasPair(getPairs(entry, kernel::inPlaceAttrName), asked[i], asked[i + 1])) {
        explain(entry, asked[i], asked[i + 1]);
        possible = false;
      }
  return possible;
}

std::vector<InPlacePair> listInPlace(ModuleOp module) {
  std::vector<InPlacePair> result;
  for (auto entry : module.getOps<kernel::EntryOp>()) {
    ArrayRef<int64_t> pairs = getPairs(entry, kernel::inPlaceAttrName);
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      auto type = cast<RankedTensorType>(cast<TypeAttr>(cast<DictionaryAttr>(entry.getInputs()[pairs[i]]).get("type")).getValue());
      result.push_back({nameOf(entry.getOutputs(), pairs[i + 1]), nameOf(entry.getInputs(), pairs[i])});
      if (type.hasStaticShape())
        result.back().bytes = type.getNumElements() * elementBytes(type.getElementType());
    }
  }
  return result;
}

} // namespace kiln
