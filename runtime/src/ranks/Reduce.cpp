#include "Reduce.h"

#include "kiln/half.h"

using namespace kiln;

namespace {

// An element in memory, and what it is computed in. Integers have no sign while they are added and multiplied, so that they wrap around.
template <typename T> struct Plain {
  using Stored = T;
  using Computed = T;
  static T widen(T value) { return value; }
  static T narrow(T value) { return value; }
};
struct F16 {
  using Stored = uint16_t;
  using Computed = float;
  static float widen(uint16_t word) { return f16_to_f32(word); }
  static uint16_t narrow(float value) { return f32_to_f16(value); }
};
struct Bf16 {
  using Stored = uint16_t;
  using Computed = float;
  static float widen(uint16_t word) { return bf16_to_f32(word); }
  static uint16_t narrow(float value) { return f32_to_bf16(value); }
};

struct Sum {
  template <typename T> static T join(T a, T b) { return T(a + b); }
};
struct Product {
  template <typename T> static T join(T a, T b) { return T(a * b); }
};
// The first of equal ones; the first NaN.
struct Min {
  template <typename T> static T join(T a, T b) { return a != a || !(b < a || b != b) ? a : b; }
};
struct Max {
  template <typename T> static T join(T a, T b) { return a != a || !(b > a || b != b) ? a : b; }
};

template <typename Type, typename Operation>
void reduce(const void *const *sources, int32_t sourceCount, void *result, int64_t count) {
  using Stored = typename Type::Stored;
  using Computed = typename Type::Computed;
  constexpr int64_t block = 512; // sums stay in the first-level cache
  Computed sums[block];
  for (int64_t begin = 0; begin < count; begin += block) {
    int64_t length = count - begin < block ? count - begin : block;
    const Stored *first = static_cast<const Stored *>(sources[0]) + begin;
    for (int64_t i = 0; i < length; ++i)
      sums[i] = Type::widen(first[i]);
    for (int32_t s = 1; s < sourceCount; ++s) {
      const Stored *next = static_cast<const Stored *>(sources[s]) + begin;
      for (int64_t i = 0; i < length; ++i)
        sums[i] = Operation::template join<Computed>(sums[i], Type::widen(next[i]));
    }
    Stored *to = static_cast<Stored *>(result) + begin;
    for (int64_t i = 0; i < length; ++i)
      to[i] = Type::narrow(sums[i]);
  }
}

using Function = void (*)(const void *const *, int32_t, void *, int64_t);

// `Wrapping` is `Ordered` without a sign.
template <typename Ordered, typename Wrapping = Ordered> Function chooseOperation(int32_t reduction) {
  switch (reduction) {
  case KILN_REDUCE_SUM:
    return reduce<Wrapping, Sum>;
  case KILN_REDUCE_PRODUCT:
    return reduce<Wrapping, Product>;
  case KILN_REDUCE_MIN:
    return reduce<Ordered, Min>;
  case KILN_REDUCE_MAX:
    return reduce<Ordered, Max>;
  }
  return nullptr;
}

// Narrow ones are multiplied in 32 bits: the promoted product of two u16 would overflow an int.
struct U16 : Plain<uint16_t> {
  using Computed = uint32_t;
  static uint32_t widen(uint16_t value) { return value; }
  static uint16_t narrow(uint32_t value) { return uint16_t(value); }
};

Function chooseFunction(int32_t elementType, int32_t reduction) {
  switch (elementType) {
  case KILN_ELEMENT_F32:
    return chooseOperation<Plain<float>>(reduction);
  case KILN_ELEMENT_F64:
    return chooseOperation<Plain<double>>(reduction);
  case KILN_ELEMENT_F16:
    return chooseOperation<F16>(reduction);
  case KILN_ELEMENT_BF16:
    return chooseOperation<Bf16>(reduction);
  case KILN_ELEMENT_U8:
    return chooseOperation<Plain<uint8_t>>(reduction);
  case KILN_ELEMENT_I8:
    return chooseOperation<Plain<int8_t>, Plain<uint8_t>>(reduction);
  case KILN_ELEMENT_U16:
    return chooseOperation<Plain<uint16_t>, U16>(reduction);
  case KILN_ELEMENT_I16:
    return chooseOperation<Plain<int16_t>, U16>(reduction);
  case KILN_ELEMENT_U32:
    return chooseOperation<Plain<uint32_t>>(reduction);
  case KILN_ELEMENT_I32:
    return chooseOperation<Plain<int32_t>, Plain<uint32_t>>(reduction);
  case KILN_ELEMENT_U64:
    return chooseOperation<Plain<uint64_t>>(reduction);
  case KILN_ELEMENT_I64:
    return chooseOperation<Plain<int64_t>, Plain<uint64_t>>(reduction);
  case KILN_ELEMENT_BOOL:
    return reduction == KILN_REDUCE_SUM ? nullptr : chooseOperation<Plain<uint8_t>>(reduction);
  }
  return nullptr;
}

} // namespace

int64_t kiln::findReducedSize(int32_t elementType, int32_t reduction) {
  if (!chooseFunction(elementType, reduction))
    return 0;
  switch (elementType) {
  case KILN_ELEMENT_U8:
  case KILN_ELEMENT_I8:
  case KILN_ELEMENT_BOOL:
    return 1;
  case KILN_ELEMENT_U16:
  case KILN_ELEMENT_I16:
  case KILN_ELEMENT_F16:
  case KILN_ELEMENT_BF16:
    return 2;
  case KILN_ELEMENT_F64:
  case KILN_ELEMENT_U64:
  case KILN_ELEMENT_I64:
    return 8;
  }
  return 4;
}

void kiln::reduceInOrder(const void *const *sources, int32_t sourceCount, void *result, int64_t count, int32_t elementType, int32_t reduction) {
  chooseFunction(elementType, reduction)(sources, sourceCount, result, count);
}
