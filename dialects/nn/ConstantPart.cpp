//===- ConstantPart.cpp - A part of a constant ------------------------------===//
#include "dialects/nn/ConstantPart.h"
#include "dialects/nn/ConstantData.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseMap.h"
#include <cstring>
#include <sys/mman.h>

using namespace mlir;

namespace kiln::nn {

namespace {
/// The parts of all contexts, by the resource that stands for each. They are looked up whenever a resource is read, and none may outlive its blob.
struct Parts {
  std::mutex mutex;
  bool areHeld = false;
  llvm::DenseMap<const AsmResourceBlob *, std::shared_ptr<ConstantPart>> byBlob;
};
} // namespace

/// Never destroyed: contexts may be destroyed later than anything static.
static Parts &getParts() {
  static Parts &parts = *new Parts;
  return parts;
}

static AsmResourceBlob *findBlob(ElementsAttr attr) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  return resource ? resource.getRawHandle().getBlob() : nullptr;
}

std::shared_ptr<ConstantPart> findPart(ElementsAttr attr) {
  AsmResourceBlob *blob = findBlob(attr);
  // Whatever has a part's blob has a deleter, which removes it from the list.
  if (!blob || !blob->getDeleter())
    return nullptr;
  Parts &parts = getParts();
  std::lock_guard lock(parts.mutex);
  return parts.byBlob.lookup(blob);
}

ElementsAttr getWhole(ElementsAttr attr) {
  std::shared_ptr<ConstantPart> part = findPart(attr);
  return part ? part->getSource() : attr;
}

ConstantPart::ConstantPart(ElementsAttr source, ArrayRef<int64_t> starts, RankedTensorType type, ArrayRef<int> cut)
    : source(source), starts(starts), type(type), cut(cut), bytes(size_t(type.getNumElements() * elementBytes(type.getElementType()))) {}

ConstantPart::~ConstantPart() {
  if (pages)
    munmap(pages, bytes);
}

/// The elements that follow each other for each dimension of a shape.
static SmallVector<int64_t> findStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

const char *ConstantPart::findInSource() const {
  AsmResourceBlob *blob = findBlob(source);
  ArrayRef<int64_t> all = cast<RankedTensorType>(source.getType()).getShape();
  SmallVector<int64_t> strides = findStrides(all);
  int64_t offset = 0;
  bool isInside = false;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    // Several rows of what is not whole are apart.
    if (isInside && size != all[dim])
      return nullptr;
    isInside |= size > 1;
    offset += starts[dim] * strides[dim];
  }
  return blob ? blob->getData().data() + offset * elementBytes(type.getElementType()) : nullptr;
}

/// What is read of a mapped source before its pages go.
static constexpr int64_t releasedSourceBytes = int64_t(16) << 20;

void ConstantPart::copyTo(char *target) const {
  ConstantData whole(source);
  ArrayRef<int64_t> shape = type.getShape(), all = cast<RankedTensorType>(source.getType()).getShape();
  SmallVector<int64_t> strides = findStrides(all), index(shape.size(), 0);
  int64_t element = elementBytes(type.getElementType()), origin = 0, released = 0;
  size_t last = shape.size();
  while (last > 0 && shape[last - 1] == all[last - 1])
    --last;
  int64_t run = last ? shape[last - 1] * strides[last - 1] * element : int64_t(bytes);
  for (size_t dim = 0; dim < shape.size(); ++dim)
    origin += starts[dim] * strides[dim];
  for (size_t done = 0; done < bytes; done += size_t(run)) {
    int64_t from = origin * element;
    std::memcpy(target + done, whole.bytes().data() + from, size_t(run));
    if (from - released > releasedSourceBytes) {
      whole.releasePages(released, from);
      released = from;
    }
    for (size_t dim = last ? last - 1 : 0; dim-- > 0;) {
      origin += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      origin -= shape[dim] * strides[dim];
      index[dim] = 0;
    }
  }
}

bool ConstantPart::reserve() {
  void *room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pages = room == MAP_FAILED ? nullptr : static_cast<char *>(room);
  return pages;
}

void ConstantPart::hold() {
  isRead = true;
  if (!pages)
    return;
  std::lock_guard lock(mutex);
  fill();
}

void ConstantPart::fill() {
  if (holders++ == 0)
    copyTo(pages);
}

void ConstantPart::release() {
  if (!pages)
    return;
  std::lock_guard lock(mutex);
  if (--holders == 0)
    madvise(pages, bytes, MADV_DONTNEED);
}

/// Smaller parts are copied: they would have pages of their own.
static constexpr size_t copiedBytes = 64 << 10;

ElementsAttr makePart(ElementsAttr source, ArrayRef<int64_t> starts, ArrayRef<int64_t> shape, ArrayRef<int> cut) {
  auto type = RankedTensorType::get(shape, source.getElementType());
  if (auto splat = dyn_cast<SplatElementsAttr>(source))
    return splat.resizeSplat(type);
  auto part = std::make_shared<ConstantPart>(source, starts, type, cut);
  // Known only after the blob has got its deleter.
  auto key = std::make_shared<const AsmResourceBlob *>(nullptr);
  auto remove = [key](void *, size_t, size_t) {
    Parts &parts = getParts();
    std::lock_guard lock(parts.mutex);
    parts.byBlob.erase(*key);
  };
  size_t bytes = part->bytes;
  const char *place = part->findInSource();
  part->isView = place;
  std::shared_ptr<std::vector<char>> copy;
  if (!place && bytes >= copiedBytes && part->reserve())
    place = part->pages;
  if (!place) {
    copy = std::make_shared<std::vector<char>>(bytes);
    part->copyTo(copy->data());
    place = copy->data();
  }
  auto removeCopy = [remove, copy](void *data, size_t size, size_t alignment) { remove(data, size, alignment); };
  auto resource = dyn_cast<DenseResourceElementsAttr>(source);
  auto &manager = DenseResourceElementsHandle::getManagerInterface(type.getContext());
  auto handle = manager.insert(resource ? resource.getRawHandle().getKey() : "part",
                               UnmanagedAsmResourceBlob::allocateWithAlign(ArrayRef(place, bytes), 1, removeCopy));
  *key = handle.getBlob();
  Parts &parts = getParts();
  std::lock_guard lock(parts.mutex);
  parts.byBlob[handle.getBlob()] = part;
  if (parts.areHeld)
    part->hold();
  return DenseResourceElementsAttr::get(type, handle);
}

void holdAllParts() {
  Parts &parts = getParts();
  // A crash may have stopped whoever has the list.
  std::unique_lock lock(parts.mutex, std::try_to_lock);
  if (!lock)
    return;
  parts.areHeld = true;
  for (auto &[blob, part] : parts.byBlob)
    if (std::unique_lock own(part->mutex, std::try_to_lock); own && part->pages)
      part->fill();
}

} // namespace kiln::nn
