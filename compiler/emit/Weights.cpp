//===- Weights.cpp - The constant arrays of a model ------------------------===//
//
// A packed weight is written row by row. Along the innermost stored dimension, the position in the source moves by a constant step, and the part
// of the row that lies inside the source is one interval.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Weights.h"

#include "dialects/kernel/Kernel.h"
#include "dialects/nn/ConstantData.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <cstring>

using namespace mlir;

namespace kiln {

static int64_t storedElements(kernel::WeightOp weight) {
  auto pack = weight.getPack();
  return pack ? pack->getNumElements() : weight.getValue().getNumElements();
}

int64_t getStoredBytes(kernel::WeightOp weight) {
  return storedElements(weight) * nn::elementBytes(weight.getValue().getElementType());
}

/// The map of a pack as numbers: result r at index d is constant[r] + sum of steps[r][k] * d[k].
namespace {
struct LinearMap {
  SmallVector<int64_t> constant;
  SmallVector<SmallVector<int64_t>> steps;
};
} // namespace

static LinearMap evaluate(AffineMap map) {
  SmallVector<int64_t> index(map.getNumDims(), 0);
  LinearMap result;
  result.constant = map.compose(index);
  result.steps.resize(map.getNumResults());
  for (unsigned k = 0; k < map.getNumDims(); ++k) {
    index[k] = 1;
    for (auto [r, value] : llvm::enumerate(map.compose(index)))
      result.steps[r].push_back(value - result.constant[r]);
    index[k] = 0;
  }
  return result;
}

static bool isLinear(AffineMap map) {
  bool linear = map.getNumSymbols() == 0;
  map.walkExprs([&](AffineExpr expr) { linear &= isa<AffineConstantExpr, AffineDimExpr>(expr) || expr.getKind() <= AffineExprKind::Mul; });
  return linear;
}

static LogicalResult verifyWeight(kernel::WeightOp weight) {
  auto pack = weight.getPack();
  auto type = cast<ShapedType>(weight.getValue().getType());
  bool fits = !pack || (isLinear(pack->getMap()) && pack->getMap().getNumDims() == pack->getShape().size() &&
                        pack->getMap().getNumResults() == static_cast<unsigned>(type.getRank()) && !pack->getShape().empty());
  if (!fits)
    return weight.emitOpError("expected a linear map from the stored shape to the shape of the value");
  if (nn::countConstantBytes(weight.getValue()) != type.getNumElements() * nn::elementBytes(type.getElementType()))
    return weight.emitOpError("has no data, or not as much as its type says");
  return success();
}

namespace {
/// A weight in all of its forms.
using WeightForms = SmallVector<kernel::WeightOp, 1>;

/// The positions assigned so far.
class Places {
public:
  LogicalResult add(const WeightForms &forms);
  int64_t end = 0;

private:
  static bool isSame(kernel::WeightOp a, kernel::WeightOp b);
  /// By attribute: modules of one context share attributes, so equal ones are found without reading their bytes.
  DenseMap<std::pair<Attribute, Attribute>, kernel::WeightOp> byAttribute;
  /// By the hash of the bytes.
  DenseMap<uint64_t, SmallVector<WeightForms, 1>> byHash;
};
} // namespace

bool Places::isSame(kernel::WeightOp a, kernel::WeightOp b) {
  auto shape = [](kernel::WeightOp weight) { return cast<ShapedType>(weight.getValue().getType()).getShape(); };
  bool sameForm = a.getPackAttr() == b.getPackAttr() && getStoredBytes(a) == getStoredBytes(b) && (!a.getPack() || shape(a) == shape(b));
  return sameForm && (a.getValue() == b.getValue() || nn::ConstantData(a.getValue()).bytes() == nn::ConstantData(b.getValue()).bytes());
}

static void setOffset(const WeightForms &forms, int64_t offset) {
  for (kernel::WeightOp form : forms)
    form.setOffset(offset);
}

static uint64_t hashBytes(ElementsAttr value) {
  nn::ConstantData data(value);
  return llvm::xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(data.bytes().data()), data.bytes().size()));
}

LogicalResult Places::add(const WeightForms &forms) {
  kernel::WeightOp first = forms[0];
  // Where the first form has the same attribute twice, the others have.
  auto [known, isNew] = byAttribute.try_emplace({first.getValueAttr(), first.getPackAttr()}, first);
  if (!isNew) {
    setOffset(forms, *known->second.getOffset());
    return success();
  }
  uint64_t hash = 0;
  for (kernel::WeightOp form : forms) {
    if (failed(verifyWeight(form)))
      return failure();
    if (form == first || form.getValue() != first.getValue())
      hash = static_cast<uint64_t>(llvm::hash_combine(hash, hashBytes(form.getValue())));
  }
  SmallVector<WeightForms, 1> &candidates = byHash[hash];
  auto isTwin = [&](const WeightForms &other) { return llvm::equal(forms, other, isSame); };
  if (auto *twin = llvm::find_if(candidates, isTwin); twin != candidates.end()) {
    kernel::WeightOp found = twin->front();
    setOffset(forms, *found.getOffset());
    return success();
  }
  setOffset(forms, end);
  candidates.push_back(forms);
  end += llvm::alignTo(getStoredBytes(first), weightAlignment);
  return success();
}

FailureOr<int64_t> placeWeights(const std::vector<std::vector<ModuleOp>> &forms) {
  Places places;
  auto list = [](ArrayRef<ModuleOp> modules) {
    std::vector<kernel::WeightOp> weights;
    for (ModuleOp module : modules)
      llvm::append_range(weights, module.getOps<kernel::WeightOp>());
    return weights;
  };
  std::vector<std::vector<kernel::WeightOp>> weights;
  for (const std::vector<ModuleOp> &modules : forms)
    weights.push_back(list(modules));
  for (size_t i = 0; !weights.empty() && i < weights[0].size(); ++i) {
    WeightForms all;
    for (const std::vector<kernel::WeightOp> &form : weights)
      all.push_back(form[i]);
    if (failed(places.add(all)))
      return failure();
  }
  return places.end;
}

FailureOr<int64_t> placeWeights(ArrayRef<ModuleOp> modules) {
  std::vector<std::vector<ModuleOp>> forms(1, modules.vec());
  return placeWeights(forms);
}

//===- Writing --------------------------------------------------------------===//

/// Positions i in [0, count) with 0 <= at + i * step < size.
static std::pair<int64_t, int64_t> validRange(int64_t at, int64_t step, int64_t size, int64_t count) {
  if (step == 0)
    return at >= 0 && at < size ? std::make_pair(int64_t(0), count) : std::make_pair(int64_t(0), int64_t(0));
  if (step < 0) { // the same positions seen from the other end
    at = size - 1 - at;
    step = -step;
  }
  int64_t first = at >= 0 ? 0 : llvm::divideCeil(-at, step);
  int64_t last = at >= size ? 0 : llvm::divideCeil(size - at, step);
  first = std::min(first, count);
  return {first, std::max(first, std::min(last, count))};
}

template <typename T> static void copyStrided(char *to, const char *from, int64_t step, int64_t count) {
  auto *target = reinterpret_cast<T *>(to);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(&target[i], from + i * step * sizeof(T), sizeof(T));
}

static void copyRow(char *to, const char *from, int64_t step, int64_t count, int64_t bytes) {
  if (step == 1)
    std::memcpy(to, from, count * bytes);
  else if (bytes == 4)
    copyStrided<uint32_t>(to, from, step, count);
  else if (bytes == 2)
    copyStrided<uint16_t>(to, from, step, count);
  else if (bytes == 1)
    copyStrided<uint8_t>(to, from, step, count);
  else
    copyStrided<uint64_t>(to, from, step, count);
}

namespace {
/// Writes through a buffer whose places the packing fills directly.
class Block {
public:
  explicit Block(raw_ostream &out) : out(out), buffer(1 << 20) {}
  ~Block() { flush(); }
  /// A run of zeroed bytes, at most as long as the buffer.
  char *take(size_t bytes) {
    if (used + bytes > buffer.size())
      flush();
    char *place = buffer.data() + used;
    std::memset(place, 0, bytes);
    used += bytes;
    return place;
  }
  void flush() {
    out.write(buffer.data(), used);
    used = 0;
  }

  size_t capacity() const { return buffer.size(); }

private:
  raw_ostream &out;
  std::vector<char> buffer;
  size_t used = 0;
};
} // namespace

static void writePacked(kernel::PackAttr pack, ArrayRef<int64_t> sourceShape, const nn::ConstantData &data, raw_ostream &out) {
  LinearMap map = evaluate(pack.getMap());
  ArrayRef<int64_t> shape = pack.getShape();
  int64_t bytes = nn::elementBytes(data.elementType()), rows = 1;
  for (int64_t extent : shape.drop_back())
    rows *= extent;
  size_t rank = sourceShape.size(), last = shape.size() - 1;
  SmallVector<int64_t> strides(rank, 1);
  for (size_t r = rank; r-- > 1;)
    strides[r - 1] = strides[r] * sourceShape[r];
  int64_t step = 0;
  for (size_t r = 0; r < rank; ++r)
    step += map.steps[r][last] * strides[r];
  Block block(out);
  int64_t piece = std::max<int64_t>(1, block.capacity() / bytes);
  SmallVector<int64_t> index(last, 0), place(map.constant);
  for (int64_t n = 0; n < rows; ++n) {
    int64_t row = pack.getRowElements(index), first = 0, end = row, origin = 0;
    for (size_t r = 0; r < rank; ++r) {
      auto [low, high] = validRange(place[r], map.steps[r][last], sourceShape[r], row);
      first = std::max(first, low);
      end = std::min(end, high);
      origin += place[r] * strides[r];
    }
    for (int64_t at = 0; at < row; at += piece) {
      int64_t count = std::min(piece, row - at);
      char *target = block.take(count * bytes);
      int64_t from = std::max(first, at), to = std::min(end, at + count);
      if (from < to)
        copyRow(target + (from - at) * bytes, data.bytes().data() + (origin + from * step) * bytes, step, to - from, bytes);
    }
    // Goes to the next row: the position moves by the steps of the dimensions that count up or start again.
    for (size_t k = last; k-- > 0;) {
      bool wraps = ++index[k] == shape[k];
      for (size_t r = 0; r < rank; ++r)
        place[r] += wraps ? -map.steps[r][k] * (shape[k] - 1) : map.steps[r][k];
      if (!wraps)
        break;
      index[k] = 0;
    }
  }
}

static void writeWeight(kernel::WeightOp weight, raw_ostream &out) {
  nn::ConstantData data(weight.getValue());
  if (auto pack = weight.getPack())
    writePacked(*pack, cast<ShapedType>(weight.getValue().getType()).getShape(), data, out);
  else
    out.write(data.bytes().data(), data.bytes().size());
  int64_t bytes = getStoredBytes(weight);
  out.write_zeros(llvm::alignTo(bytes, weightAlignment) - bytes);
}

void writeWeights(ArrayRef<ModuleOp> modules, raw_ostream &out) {
  int64_t end = 0;
  for (ModuleOp module : modules)
    for (auto weight : module.getOps<kernel::WeightOp>()) {
      if (static_cast<int64_t>(*weight.getOffset()) != end)
        continue; // shares the place of an earlier one
      writeWeight(weight, out);
      end += llvm::alignTo(getStoredBytes(weight), weightAlignment);
    }
}

} // namespace kiln
