//===- PrepareInPlace.cpp - Outputs in the buffers of inputs ---------------===//
//
// OUTPUT=INPUT requires that an output may be an input's own buffer, as for the caches of a decoder. Such pairs are recorded in `nn.asked_in_place`.
// The kernel stage finds the possible pairs by itself (`kernel.in_place`); --kernel-verify-in-place compares the two. OUTPUT=INPUT:ROWS is for a cache that
// grows by a concatenation. Both tensors become the whole buffer, with room for ROWS rows, and the new rows are written behind those in use:
//
//   %present = nn.concat %past, %new axis 2     =>    %all = nn.scatter_elements %buffer, (size of %past + 0, 1, ...), %new axis 2
//                                                     %present = nn.slice %all, the rows in use
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/Passes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PREPAREINPLACE
#include "passes/Passes.h.inc"

using namespace nn;

//===- Which tensors -------------------------------------------------------===//

namespace {
/// What a pair requires of one output.
struct Request {
  unsigned input, output;
  /// The rows of the buffer; 0 if the tensors have its size.
  int64_t rows;
  /// The option that the user gave, for messages.
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

/// The requests of all pairs; `refuse` is told of each that names other tensors than the model has.
static SmallVector<Request> readRequests(ArrayRef<std::string> pairs, func::FuncOp main, llvm::function_ref<void(const Twine &)> refuse) {
  std::vector<std::string> inputs = listNames(main, false), outputs = listNames(main, true);
  SmallVector<Request> requests;
  for (const std::string &option : pairs) {
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
        refuse(missing(option, "input", input, inputs));
      else if (llvm::any_of(requests, [&](const Request &other) { return other.input == request.input || other.output == request.output; }))
        refuse(request.text + ": one of the two is already in another pair");
      requests.push_back(request);
    }
    if (requests.size() == before)
      refuse(missing(option, "output", wantedOutput, outputs));
  }
  return requests;
}

//===- Caches that grow by a concatenation ---------------------------------===//

/// The rows of `dims` along `axis`, from row `first` on.
static Value sliceRows(OpBuilder &b, Value from, ArrayRef<AffineExpr> dims, unsigned axis, AffineExpr first) {
  SmallVector<AffineExpr> starts(dims.size(), b.getAffineConstantExpr(0));
  SmallVector<int64_t> steps(dims.size(), 1);
  starts[axis] = first;
  AffineMap map = makeSymbolMap(starts, b.getContext());
  return SliceOp::create(b, from.getLoc(), makeTensorType(dims, getElementTypeOrSelf(from.getType())), from, AffineMapAttr::get(map),
                         b.getDenseI64ArrayAttr(steps));
}

/// Has a run check that there is room for all rows.
static LogicalResult checkRoom(ModuleOp module, ConcatOp concat, AffineExpr left, const Request &request) {
  if (auto known = getConstantDim(left))
    return success(*known >= 0);
  std::vector<Constraint> all = getConstraints(module);
  all.push_back({makeNotNegative(left), request.text});
  setConstraints(module, all);
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
    return kernel::emitRefusal(concat) << request.text << ": the result alone has " << formatDim(all[axis]) << " rows";
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

/// Gives the two tensors the same shape, or reports why that is not possible.
static LogicalResult prepare(ModuleOp module, func::FuncOp main, const Request &request) {
  BlockArgument input = main.getArgument(request.input);
  OpOperand &result = main.getBody().front().getTerminator()->getOpOperand(request.output);
  auto concat = result.get().getDefiningOp<ConcatOp>();
  bool appends = concat && concat.getInputs().size() > 1 && concat.getInputs().front() == input;
  auto fail = [&](const Twine &why) -> LogicalResult { return kernel::emitRefusal(result.get().getLoc()) << request.text << ": " << why; };
  if (request.rows > 0)
    return appends ? growBuffer(module, input, result, request) : fail("only the result of a Concat that begins with the input takes a number of rows");
  if (input.getType() == result.get().getType())
    return success();
  return fail(appends ? "the output is longer than the input: say how many rows the buffer has room for, as in --in-place=OUTPUT=INPUT:1024"
                      : "output and input differ in shape or element type");
}

namespace {
struct PrepareInPlace : impl::PrepareInPlaceBase<PrepareInPlace> {
  using PrepareInPlaceBase::PrepareInPlaceBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    bool isRefused = false;
    auto refuse = [&](const Twine &why) {
      kernel::emitRefusal(UnknownLoc::get(&getContext())) << why;
      isRefused = true;
    };
    if (!main) {
      refuse("--in-place: the IR has its kernels chosen already");
      return signalPassFailure();
    }
    SmallVector<std::string> options(pairs.begin(), pairs.end());
    SmallVector<Request> requests = readRequests(options, main, refuse);
    if (isRefused)
      return signalPassFailure();
    SmallVector<int64_t> asked;
    for (const Request &request : requests) {
      if (failed(prepare(module, main, request)))
        return signalPassFailure();
      asked.append({request.input, request.output});
    }
    Operation *terminator = main.getBody().front().getTerminator();
    main.setFunctionType(FunctionType::get(&getContext(), main.getBody().front().getArgumentTypes(), terminator->getOperandTypes()));
    module->setAttr(askedInPlaceAttrName, DenseI64ArrayAttr::get(&getContext(), asked));
  }
};
} // namespace

} // namespace kiln
