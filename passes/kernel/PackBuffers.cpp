//===- PackBuffers.cpp - Buffers of known size in one arena ----------------===//
//
// Buffers are placed one after the other, each at the lowest offset that is free during its lifetime. The result depends on the order. Several are tried
// (large first, long-lived first, those alive at the peak first), then the best one is improved by repeatedly moving the buffers at its top to the front.
//
//===----------------------------------------------------------------------===//
#include "passes/kernel/PackBuffers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <map>

using namespace llvm;

namespace kiln {

/// The number of comparisons of buffers that improving an order may take.
static constexpr int64_t improvementBudget = 40'000'000;
static constexpr int64_t mostImprovements = 300;
/// With more buffers, only the order of their first launches is tried, in which buffers that are no longer alive need not be compared.
static constexpr size_t mostCompared = 8192;

using Order = SmallVector<PackedBuffer *>;

/// Places the buffers in this order.
static int64_t place(ArrayRef<PackedBuffer *> order) {
  int64_t total = 0;
  SmallVector<PackedBuffer *> placed;
  for (PackedBuffer *buffer : order) {
    // `placed` is sorted by offset.
    int64_t offset = 0;
    for (const PackedBuffer *rival : placed) {
      if (!buffer->livesWith(*rival))
        continue;
      if (offset + buffer->bytes <= rival->offset)
        break;
      offset = std::max(offset, rival->offset + rival->bytes);
    }
    buffer->offset = offset;
    total = std::max(total, offset + buffer->bytes);
    placed.insert(llvm::upper_bound(placed, buffer, [](auto *a, auto *b) { return a->offset < b->offset; }), buffer);
  }
  return total;
}

/// Places the buffers in the order in which their lifetimes begin.
static int64_t placeInTime(MutableArrayRef<PackedBuffer> buffers) {
  int64_t total = 0;
  Order order, alive;
  for (PackedBuffer &buffer : buffers)
    order.push_back(&buffer);
  // Buffers are elements of one array, so that comparing addresses keeps the order of buffers whose lifetimes begin together.
  llvm::sort(order, [](auto *a, auto *b) { return std::pair(a->first, a) < std::pair(b->first, b); });
  for (PackedBuffer *buffer : order) {
    llvm::erase_if(alive, [&](PackedBuffer *other) { return !buffer->livesWith(*other); });
    buffer->offset = 0;
    for (const PackedBuffer *rival : alive) {
      if (buffer->offset + buffer->bytes <= rival->offset)
        break;
      buffer->offset = std::max(buffer->offset, rival->offset + rival->bytes);
    }
    total = std::max(total, buffer->offset + buffer->bytes);
    alive.insert(llvm::upper_bound(alive, buffer, [](auto *a, auto *b) { return a->offset < b->offset; }), buffer);
  }
  return total;
}

/// The number of bytes that are alive, at each time at which it changes.
static std::map<int64_t, int64_t> liveBytes(ArrayRef<PackedBuffer> buffers) {
  std::map<int64_t, int64_t> changes, live;
  for (const PackedBuffer &buffer : buffers) {
    changes[buffer.first] += buffer.bytes;
    if (buffer.last != INT64_MAX)
      changes[buffer.last + 1] -= buffer.bytes;
  }
  int64_t now = 0;
  for (auto [time, change] : changes)
    live[time] = now += change;
  return live;
}

int64_t getLiveBytes(ArrayRef<PackedBuffer> buffers) {
  int64_t most = 0;
  for (auto [time, bytes] : liveBytes(buffers))
    most = std::max(most, bytes);
  return most;
}

int64_t packBuffers(MutableArrayRef<PackedBuffer> buffers) {
  if (buffers.size() > mostCompared)
    return placeInTime(buffers);
  std::map<int64_t, int64_t> live = liveBytes(buffers);
  // The most bytes that are alive at any time during a buffer's lifetime.
  auto pressure = [&](const PackedBuffer *buffer) {
    int64_t most = 0;
    for (auto it = live.lower_bound(buffer->first); it != live.end() && it->first <= buffer->last; ++it)
      most = std::max(most, it->second);
    return most;
  };
  auto life = [](const PackedBuffer *buffer) { return std::min<int64_t>(buffer->last - buffer->first, 1 << 20) + 1; };
  using Key = std::pair<int64_t, int64_t>;
  const std::function<Key(const PackedBuffer *)> keys[] = {
      [&](const PackedBuffer *b) { return Key(b->bytes, life(b)); },
      [&](const PackedBuffer *b) { return Key(pressure(b), b->bytes); },
      [&](const PackedBuffer *b) { return Key(life(b), b->bytes); },
      [&](const PackedBuffer *b) { return Key(b->bytes / 1024 * life(b), b->bytes); },
      [&](const PackedBuffer *b) { return Key(-b->first, b->bytes); },
      [&](const PackedBuffer *b) { return Key(b->last, b->bytes); },
  };
  int64_t bound = getLiveBytes(buffers), best = INT64_MAX;
  Order bestOrder, order;
  for (PackedBuffer &buffer : buffers)
    order.push_back(&buffer);
  Order given = order;
  for (const auto &key : keys) {
    order = given;
    DenseMap<PackedBuffer *, Key> values;
    for (PackedBuffer *buffer : order)
      values[buffer] = key(buffer);
    llvm::sort(order, [&](PackedBuffer *a, PackedBuffer *b) { return std::pair(values[b], a) < std::pair(values[a], b); });
    if (int64_t total = place(order); total < best) {
      best = total;
      bestOrder = order;
    }
  }
  order = bestOrder;
  int64_t rounds = std::min<int64_t>(mostImprovements, improvementBudget / (static_cast<int64_t>(buffers.size() * buffers.size()) + 1));
  for (int64_t total = place(order); best > bound && rounds-- > 0;) {
    auto isHighest = [&](PackedBuffer *buffer) { return buffer->offset + buffer->bytes == total; };
    Order next = llvm::filter_to_vector(order, isHighest);
    llvm::append_range(next, llvm::make_filter_range(order, [&](PackedBuffer *buffer) { return !isHighest(buffer); }));
    order = next;
    total = place(order);
    if (total < best) {
      best = total;
      bestOrder = order;
    }
  }
  return place(bestOrder);
}

} // namespace kiln
