//===- PackedInputs.cpp - Right sides that the caller has packed -------------===//
#include "passes/target/groups/PackedInputs.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/SignatureAttributeNames.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static constexpr llvm::StringLiteral packedLayout = "packed";

/// The function whose argument a value is, if that has a packed layout.
static func::FuncOp findFunction(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto layout = function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), layoutAttrName) : StringAttr();
  return layout && layout.getValue().starts_with(packedLayout) ? function : func::FuncOp();
}

bool isPacked(Value value) { return findFunction(value) != nullptr; }

bool isPackedInput(GroupOp group, unsigned input) { return isPacked(group.getInputs()[input]); }

LogicalResult setPanels(GroupOp group, unsigned input, int64_t width, int64_t depth) {
  Value value = group.getInputs()[input];
  func::FuncOp function = findFunction(value);
  unsigned argument = cast<BlockArgument>(value).getArgNumber();
  auto known = function.getArgAttrOfType<StringAttr>(argument, layoutAttrName);
  auto wanted = StringAttr::get(group.getContext(), packedLayout + " " + Twine(width) + "x" + Twine(depth));
  if (known != packedLayout && known != wanted)
    return kernel::emitRefusal(group) << "expected an operand that is " << known.getValue() << ", its kernel takes it " << wanted.getValue();
  function.setArgAttr(argument, layoutAttrName, wanted);
  return success();
}

LogicalResult verifyPanels(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments()) {
    auto layout = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), layoutAttrName);
    if (!layout || layout.getValue() != packedLayout)
      continue;
    auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nameAttrName);
    return kernel::emitRefusal(main) << "input '" << (name ? name.getValue() : "") << "' cannot be packed: no kernel reads it as the right side of a product";
  }
  return success();
}

} // namespace kiln
