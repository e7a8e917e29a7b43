//===- ConstantData.cpp - The bytes of a constant --------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/ConstantPart.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include <cmath>
#include <sys/mman.h>

using namespace mlir;

namespace kiln::nn {

/// Constants of at least this many bytes are resources.
static constexpr size_t resourceBytes = 1024;

int64_t elementBytes(Type elementType) { return (elementType.getIntOrFloatBitWidth() + 7) / 8; }

/// Of the blobs that own nothing, only those of makeMappedConstant and of parts have a deleter.
static bool isMappedBlob(ElementsAttr attr) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob && !blob->isMutable() && blob->getDeleter();
}

ConstantData::ConstantData(ElementsAttr attr) : element(attr.getElementType()), elements(attr.getNumElements()) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob()) {
      view = blob->getData();
      part = findPart(attr);
      if (part)
        part->hold();
      isMapped = isMappedBlob(part ? part->getSource() : attr) && (!part || part->isInSource());
    }
    return;
  }
  auto dense = cast<DenseElementsAttr>(attr);
  if (element.isInteger(1)) {
    for (bool value : dense.getValues<bool>())
      storage.push_back(value);
    view = storage;
    return;
  }
  view = dense.getRawData();
  if (!dense.isSplat() || elements == 1)
    return;
  storage.reserve(elements * view.size());
  for (int64_t i = 0; i < elements; ++i)
    storage.insert(storage.end(), view.begin(), view.end());
  view = storage;
}

/// Smaller parts of a mapping stay in memory until all of it goes.
static constexpr size_t releasedBytes = 1 << 20;

ConstantData::~ConstantData() {
  if (view.size() >= releasedBytes)
    releasePages(0, view.size());
  if (part)
    part->release();
}

void ConstantData::releasePages(size_t first, size_t last) const {
  if (!isMapped)
    return;
  static const uint64_t page = llvm::sys::Process::getPageSizeEstimate();
  uint64_t begin = llvm::alignTo(reinterpret_cast<uintptr_t>(view.data() + first), page);
  uint64_t end = llvm::alignDown(reinterpret_cast<uintptr_t>(view.data() + last), page);
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

int64_t countConstantBytes(ElementsAttr attr) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? int64_t(blob->getData().size()) : 0;
  }
  return attr.getNumElements() * elementBytes(attr.getElementType());
}

/// Bits of an element as an unsigned number.
static uint64_t loadBits(const char *data, int64_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, bytes);
  return bits;
}

double ConstantData::asDouble(int64_t i) const {
  int64_t size = elementBytes(element);
  uint64_t bits = loadBits(view.data() + i * size, size);
  if (auto type = dyn_cast<FloatType>(element))
    return APFloat(type.getFloatSemantics(), APInt(type.getWidth(), bits, false, true)).convertToDouble();
  if (element.isUnsignedInteger() || element.isInteger(1))
    return static_cast<double>(bits);
  return static_cast<double>(asInt(i));
}

int64_t ConstantData::asInt(int64_t i) const {
  if (isa<FloatType>(element))
    return static_cast<int64_t>(asDouble(i));
  int64_t size = elementBytes(element);
  uint64_t bits = loadBits(view.data() + i * size, size);
  if (element.isUnsignedInteger() || element.isInteger(1))
    return static_cast<int64_t>(bits);
  return APInt(size * 8, bits, false, true).getSExtValue();
}

static ElementsAttr makeResource(RankedTensorType type, AsmResourceBlob blob, StringRef name) {
  auto &manager = DenseResourceElementsHandle::getManagerInterface(type.getContext());
  return DenseResourceElementsAttr::get(type, manager.insert(name, std::move(blob)));
}

ElementsAttr makeConstant(RankedTensorType type, std::vector<char> bytes) {
  assert(static_cast<int64_t>(bytes.size()) == type.getNumElements() * elementBytes(type.getElementType()));
  if (bytes.size() < resourceBytes) {
    if (!type.getElementType().isInteger(1))
      return DenseElementsAttr::getFromRawBuffer(type, bytes);
    SmallVector<bool> values(bytes.begin(), bytes.end());
    return DenseElementsAttr::get(type, ArrayRef<bool>(values));
  }
  return makeResource(type, HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64), "folded");
}

ElementsAttr makeBorrowedConstant(RankedTensorType type, ArrayRef<char> bytes, StringRef name) {
  if (bytes.size() < resourceBytes)
    return makeConstant(type, std::vector<char>(bytes.begin(), bytes.end()));
  return makeResource(type, UnmanagedAsmResourceBlob::allocateWithAlign(bytes, 1), name.empty() ? "weight" : name);
}

ElementsAttr makeMappedConstant(RankedTensorType type, ArrayRef<char> bytes, StringRef name) {
  if (bytes.size() < resourceBytes)
    return makeConstant(type, std::vector<char>(bytes.begin(), bytes.end()));
  auto keep = [](void *, size_t, size_t) {};
  return makeResource(type, UnmanagedAsmResourceBlob::allocateWithAlign(bytes, 1, keep), name.empty() ? "weight" : name);
}

bool isFinite(ElementsAttr attr) {
  ConstantData data(attr);
  // Text may leave out the bytes of large constants.
  bool finite = static_cast<int64_t>(data.bytes().size()) == data.numElements() * elementBytes(data.elementType());
  data.forEachDouble(0, finite ? data.numElements() : 0, [&](double number) { finite &= std::isfinite(number); });
  return finite;
}

ElementsAttr getConstant(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    // Text may leave out the bytes of a resource; then nothing is known of them.
    auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    return resource && !resource.getRawHandle().getBlob() ? nullptr : constant.getValue();
  }
  auto splat = value.getDefiningOp<SplatOp>();
  auto type = cast<RankedTensorType>(value.getType());
  if (splat && type.hasStaticShape() && !type.getEncoding())
    return DenseElementsAttr::get(type, splat.getValue());
  return nullptr;
}

std::optional<double> getSplatNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<BroadcastToOp, ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  if (auto splat = value.getDefiningOp<SplatOp>())
    return TypeSwitch<Attribute, std::optional<double>>(splat.getValue())
        .Case<FloatAttr>([](auto attr) { return attr.getValueAsDouble(); })
        .Case<IntegerAttr>([](IntegerAttr attr) {
          bool isUnsigned = attr.getType().isUnsignedInteger();
          return isUnsigned ? static_cast<double>(attr.getValue().getZExtValue()) : static_cast<double>(attr.getValue().getSExtValue());
        })
        .Default([](Attribute) { return std::nullopt; });
  ElementsAttr constant = getConstant(value);
  if (!constant)
    return std::nullopt;
  bool isSplat = constant.getNumElements() == 1;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    isSplat |= dense.isSplat() && dense.getNumElements() > 0;
  if (!isSplat)
    return std::nullopt;
  return ConstantData(constant).asDouble(0);
}

} // namespace kiln::nn
