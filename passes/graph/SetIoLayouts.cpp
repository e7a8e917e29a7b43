//===- SetIoLayouts.cpp - Inputs and outputs in the caller's layout ---------===//
//
// With TENSOR=nhwc, the caller gives and takes a tensor whose channels are the last dimension:
//
//   func.func @main(%x: tensor<1x3x8x8xf32>)        func.func @main(%x: tensor<1x8x8x3xf32> {nn.layout = "nhwc"})
//     %c = nn.conv %x, %w                      =>      %t = nn.transpose %x [0, 3, 1, 2]
//     return %c                                        %c = nn.conv %t, %w
//                                                      %r = nn.transpose %c [0, 2, 3, 1]
//                                                      return %r                          {nn.layout = "nhwc"}
//
// With TENSOR=packed, he gives the right side of a product as a kernel wants it (passes/target/groups/PackedInputs.h), and the argument is only marked.
// PropagateLayout cancels these transposes where the operations behind them work on that layout.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/TensorQuantization.h"
#include "passes/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_SETIOLAYOUTS
#include "passes/Passes.h.inc"

using namespace nn;

/// That of an input whose kernel says the rest. `kiln kernels` asks for it, with a function that packs; it is no choice of users of models.
static constexpr StringLiteral packed = "packed";

/// The rank that a layout is for; 0: no such layout.
static int64_t rankOf(StringRef layout) { return llvm::StringSwitch<int64_t>(layout).Case("nwc", 3).Case("nhwc", 4).Case("ndhwc", 5).Default(0); }

/// Dimension i of the model's tensor is this one of the caller's.
static SmallVector<int64_t> toModel(int64_t rank) {
  SmallVector<int64_t> permutation{0, rank - 1};
  for (int64_t i = 1; i + 1 < rank; ++i)
    permutation.push_back(i);
  return permutation;
}

/// Dimension i of the caller's tensor is this one of the model's.
static SmallVector<int64_t> toCaller(int64_t rank) {
  SmallVector<int64_t> permutation{0};
  for (int64_t i = 2; i < rank; ++i)
    permutation.push_back(i);
  permutation.push_back(1);
  return permutation;
}

namespace {
/// One request: a tensor's name, or nothing for all of the layout's rank.
struct LayoutRequest {
  StringRef tensor, layout;
  bool isUsed = false;
};

struct SetIoLayouts : impl::SetIoLayoutsBase<SetIoLayouts> {
  using SetIoLayoutsBase::SetIoLayoutsBase;

  LogicalResult refuse(const Twine &why) { return kernel::emitRefusal(UnknownLoc::get(&getContext())) << "--io-layout=" << why; }

  LogicalResult parse() {
    for (const std::string &text : layouts) {
      auto [tensor, layout] = StringRef(text).contains('=') ? StringRef(text).rsplit('=') : std::pair<StringRef, StringRef>("", text);
      if (!rankOf(layout) && (tensor.empty() || layout != packed))
        return refuse(text + ": expected nwc, nhwc or ndhwc, alone or behind TENSOR=");
      requests.push_back({tensor, layout});
    }
    return success();
  }

  /// The layout of a tensor; empty: the model's. The request that names it wins.
  FailureOr<StringRef> findLayout(StringRef name, RankedTensorType type) {
    StringRef layout;
    for (LayoutRequest &request : requests) {
      if (request.tensor.empty() ? type.getRank() != rankOf(request.layout) : request.tensor != name)
        continue;
      request.isUsed = true;
      if (request.layout == packed)
        return request.layout;
      if (type.getRank() != rankOf(request.layout))
        return refuse(name + "=" + request.layout + ": expected a tensor of rank " + Twine(rankOf(request.layout)) + ", it has " + Twine(type.getRank()));
      if (layout.empty() || !request.tensor.empty())
        layout = request.layout;
    }
    return layout;
  }

  static Value transpose(OpBuilder &b, Value value, ArrayRef<int64_t> permutation) {
    auto type = cast<RankedTensorType>(value.getType());
    DimExprs from = getDims(type), to = llvm::map_to_vector(permutation, [&](int64_t i) { return from[i]; });
    return TransposeOp::create(b, value.getLoc(), makeTensorType(to, type.getElementType()), value, permutation);
  }

  /// The axis of channels is the last one of what the caller sees.
  Attribute moveQuantization(Attribute attr, ArrayRef<int64_t> permutation) {
    std::optional<TensorQuantization> quantization = readQuantization(attr);
    if (!quantization || quantization->axis < 0)
      return attr;
    quantization->axis = llvm::find(permutation, quantization->axis) - permutation.begin();
    return quantization->toAttribute(&getContext());
  }

  LogicalResult changeArguments(func::FuncOp main) {
    OpBuilder b = OpBuilder::atBlockBegin(&main.getBody().front());
    for (BlockArgument argument : main.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nameAttrName);
      if (name && shown.contains(name.getValue()))
        continue;
      FailureOr<StringRef> layout = findLayout(name ? name.getValue() : "", type);
      if (failed(layout))
        return failure();
      if (layout->empty())
        continue;
      if (*layout == packed) {
        main.setArgAttr(argument.getArgNumber(), layoutAttrName, b.getStringAttr(packed));
        continue;
      }
      SmallVector<int64_t> outward = toCaller(type.getRank());
      DimExprs dims = getDims(type);
      argument.setType(makeTensorType(llvm::map_to_vector(outward, [&](int64_t i) { return dims[i]; }), type.getElementType()));
      Value inside = transpose(b, argument, toModel(type.getRank()));
      argument.replaceAllUsesExcept(inside, inside.getDefiningOp());
      main.setArgAttr(argument.getArgNumber(), layoutAttrName, b.getStringAttr(*layout));
      if (Attribute attr = main.getArgAttr(argument.getArgNumber(), quantizationAttrName))
        main.setArgAttr(argument.getArgNumber(), quantizationAttrName, moveQuantization(attr, outward));
    }
    return success();
  }

  LogicalResult changeResults(func::FuncOp main) {
    Operation *terminator = main.getBody().front().getTerminator();
    OpBuilder b(terminator);
    for (OpOperand &result : terminator->getOpOperands()) {
      unsigned index = result.getOperandNumber();
      auto type = cast<RankedTensorType>(result.get().getType());
      auto name = main.getResultAttrOfType<StringAttr>(index, nameAttrName);
      if (index >= outputs)
        continue;
      FailureOr<StringRef> layout = findLayout(name ? name.getValue() : "", type);
      if (failed(layout))
        return failure();
      if (*layout == packed)
        return refuse(name.getValue() + "=packed: only inputs can be packed");
      if (layout->empty())
        continue;
      SmallVector<int64_t> outward = toCaller(type.getRank());
      result.set(transpose(b, result.get(), outward));
      main.setResultAttr(index, layoutAttrName, b.getStringAttr(*layout));
      if (Attribute attr = main.getResultAttr(index, quantizationAttrName))
        main.setResultAttr(index, quantizationAttrName, moveQuantization(attr, outward));
    }
    return success();
  }

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || failed(parse())) {
      if (!main)
        (void)refuse(llvm::join(layouts, ",") + ": the IR has its kernels chosen already");
      return signalPassFailure();
    }
    // What is only shown for inspection stays as the model has it, also where it is given again.
    for (unsigned i = outputs; i < main.getNumResults(); ++i)
      if (auto name = main.getResultAttrOfType<StringAttr>(i, nameAttrName))
        shown.insert(name.getValue());
    if (failed(changeArguments(main)) || failed(changeResults(main)))
      return signalPassFailure();
    for (const LayoutRequest &request : requests)
      if (!request.isUsed) {
        std::string text = request.tensor.empty() ? request.layout.str() : (request.tensor + "=" + request.layout).str();
        (void)(request.tensor.empty() ? refuse(text + ": no input or output has rank " + Twine(rankOf(request.layout)))
                                      : refuse(text + ": the model has no input or output '" + request.tensor + "'"));
        return signalPassFailure();
      }
    Block &body = main.getBody().front();
    main.setFunctionType(FunctionType::get(&getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  }

  SmallVector<LayoutRequest> requests;
  llvm::StringSet<> shown;
};
} // namespace

} // namespace kiln
