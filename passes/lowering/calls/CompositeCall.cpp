//===- CompositeCall.cpp - A function of the user's for a composite -----------===//
//
//   %r = nn.composite "com.acme.Gate" version 1(%x) {parameters = {alpha = 2.0}}
// becomes, for a target with <name = "com.acme.Gate", version = 1, function = "acme_gate", parameters = ["alpha"]>,
//   acme_gate(x, r, (const int64_t[]){all dimensions of x, all of r}, 2.0)
//
// in one task. The composite's body is not used. A call of nn.extern_call has the same arguments without parameters, and returns a status.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/Dims.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/calls/UserCalls.h"
#include "passes/target/choice/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelMatch matchCompositeCall(GroupOp, Operation *anchor, kernel::TargetAttr target) {
  auto composite = cast<CompositeOp>(anchor);
  if (!composite.hasFusedKernel(target))
    return refuse("the target has no function for " + composite.getName() + " version " + Twine(composite.getVersion()));
  return accept("the target has " + target.findComposite(composite.getName()).getFunction() + " for " + composite.getName() + " version " +
                Twine(composite.getVersion()));
}

/// The declaration in the module; `types` are the function's arguments, those from `firstResult` on up to `results` more are written.
static LogicalResult declareFunction(KernelBuilder &k, StringRef name, TypeRange types, int64_t firstResult, int64_t results,
                                     TypeRange returned = {}) {
  auto module = k.group()->getParentOfType<ModuleOp>();
  auto type = FunctionType::get(k.context(), types, returned);
  if (Operation *known = module.lookupSymbol(name)) {
    auto external = dyn_cast<kernel::ExternalOp>(known);
    if (external && external.getType() == type)
      return success();
    return kernel::emitRefusal(k.group()) << "the target or a declaration names the function '" << name
                                          << "', which has other arguments elsewhere in this model";
  }
  OpBuilder b(module.getBody(), module.getBody()->begin());
  auto writes = llvm::to_vector(llvm::seq(firstResult, firstResult + results));
  kernel::ExternalOp::create(b, k.loc(), b.getStringAttr(name), TypeAttr::get(type), b.getDenseI64ArrayAttr(writes), StringAttr(), StringAttr());
  return success();
}

/// The buffers of operands and results, and all their dimensions.
static SmallVector<Value> makeArguments(KernelBuilder &k, ValueRange inputs, ResultRange results) {
  SmallVector<Value> arguments, sizes;
  auto addSizes = [&](Type type) {
    for (AffineExpr dim : getDims(type))
      sizes.push_back(k.emit(dim));
  };
  for (Value input : inputs) {
    arguments.push_back(k.buffer(cast<BlockArgument>(input).getArgNumber()));
    addSizes(input.getType());
  }
  for (auto [i, result] : llvm::enumerate(results)) {
    arguments.push_back(k.resultBuffer(i));
    addSizes(result.getType());
  }
  // C has no arrays of no elements.
  if (sizes.empty())
    sizes.push_back(k.emitConstant(0));
  OpBuilder &b = k.builder();
  Location named = NameLoc::get(b.getStringAttr("dims"));
  Value array = kernel::NumbersOp::create(b, named, MemRefType::get({static_cast<int64_t>(sizes.size())}, b.getI64Type()), sizes);
  arguments.push_back(memref::CastOp::create(b, k.loc(), MemRefType::get({ShapedType::kDynamic}, b.getI64Type()), array));
  return arguments;
}

FailureOr<LaunchInfo> lowerCompositeCall(KernelBuilder &k, Operation *anchor) {
  auto composite = cast<CompositeOp>(anchor);
  kernel::CompositeAttr function = k.target().findComposite(composite.getName());
  SmallVector<Value> arguments = makeArguments(k, composite.getInputs(), composite.getResults());
  for (StringAttr name : function.getParameters()) {
    auto number = cast<TypedAttr>(composite.getParameters()->get(name));
    arguments.push_back(arith::ConstantOp::create(k.builder(), k.loc(), number));
  }
  if (failed(declareFunction(k, function.getFunction(), ValueRange(arguments).getTypes(), composite.getNumOperands(), composite.getNumResults())))
    return failure();
  kernel::CallOp::create(k.builder(), k.loc(), function.getFunction(), arguments, Value());
  return moveInfo(k, k.constant(1));
}

//===- Externs -------------------------------------------------------------===//

KernelMatch matchExternCall(GroupOp, Operation *anchor, kernel::TargetAttr) {
  return accept("the program provides " + cast<ExternCallOp>(anchor).getFunction() + ", which works on the model's buffers: 0 copies");
}

FailureOr<LaunchInfo> lowerExternCall(KernelBuilder &k, Operation *anchor) {
  auto call = cast<ExternCallOp>(anchor);
  SmallVector<Value> arguments = makeArguments(k, call.getInputs(), call.getResults());
  if (failed(declareFunction(k, call.getFunction(), ValueRange(arguments).getTypes(), call.getNumOperands(), call.getNumResults(), k.builder().getI32Type())))
    return failure();
  kernel::CallOp::create(k.builder(), k.loc(), call.getFunction(), arguments, k.makeStatusCell());
  return moveInfo(k, k.constant(1));
}

} // namespace kiln
