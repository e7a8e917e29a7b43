// What a session hands out and is made of: tensors, errors, and the memory behind them. Hosted C++17.
#ifndef KILN_TENSOR_H
#define KILN_TENSOR_H

#include "kiln/abi.h"

#include <new>
#include <utility>
#if defined(__cpp_exceptions)
#include <stdexcept>
#endif
#if __cplusplus >= 202002L
#include <ranges>
#endif

namespace kiln {

// The compiler's types of 16 bits, where it has them: std::float16_t and std::bfloat16_t of C++23 are the same types.
#if defined(__FLT16_MANT_DIG__)
#define KILN_HAS_FLOAT16
__extension__ typedef _Float16 float16;
#endif
#if defined(__STDCPP_BFLOAT16_T__)
#define KILN_HAS_BFLOAT16
using bfloat16 = decltype(0.0bf16);
#endif

#if defined(__cpp_exceptions)
// What run() throws.
class error : public std::runtime_error {
public:
  // The status and the text of a run that has failed.
  error(kiln_status status, const char *message) : std::runtime_error(message), reason(status) {}
  kiln_status status() const noexcept { return reason; }

private:
  kiln_status reason;
};
#endif

// Elements in row-major order and their shape. They belong to whoever made it: a session, until its next run, or the caller.
template <typename T> struct tensor {
  const T *elements = nullptr;
  size_t count = 0;
  const int64_t *extents = nullptr;
  size_t rank = 0;

  // All elements, as those of a std::vector.
  const T *data() const noexcept { return elements; }
  size_t size() const noexcept { return count; }
  const T *begin() const noexcept { return elements; }
  const T *end() const noexcept { return elements + count; }
  const T &operator[](size_t i) const noexcept { return elements[i]; }

  // The size of dimension number `axis`.
  int64_t extent(size_t axis) const noexcept { return extents[axis]; }
  // The same bits as another type of this size: std::float16_t for a tensor of f16, whose elements are uint16_t.
  template <typename U> tensor<U> as() const noexcept {
    static_assert(sizeof(U) == sizeof(T), "the types differ in size");
    return {reinterpret_cast<const U *>(elements), count, extents, rank};
  }
};

namespace detail {

// Memory aligned to KILN_ALIGNMENT, of which nothing is kept when it grows.
class buffer {
public:
  buffer() = default;
  buffer(buffer &&other) noexcept : bytes(std::exchange(other.bytes, nullptr)), capacity(std::exchange(other.capacity, 0)) {}
  buffer &operator=(buffer &&other) noexcept {
    std::swap(bytes, other.bytes);
    std::swap(capacity, other.capacity);
    return *this;
  }
  ~buffer() { ::operator delete(bytes, std::align_val_t(KILN_ALIGNMENT)); }
  bool reserve(size_t size) noexcept {
    if (bytes && size <= capacity)
      return true;
    buffer larger;
    larger.capacity = size ? size : 1;
    larger.bytes = ::operator new(larger.capacity, std::align_val_t(KILN_ALIGNMENT), std::nothrow);
    if (!larger.bytes)
      return false;
    *this = static_cast<buffer &&>(larger);
    return true;
  }
  void *data() const noexcept { return bytes; }

private:
  void *bytes = nullptr;
  size_t capacity = 0;
};

// An input, or an output with the caller's memory where `data` is set.
struct argument {
  void *data = nullptr;
  size_t count = 0;
  bool isSet = false;
  size_t rank = 0; // of the shape that the caller gave, if it gave one
  bool hasShape = false;
  buffer own;
};

// As kiln_status_string() of the runtime; programs that use a session need not link the runtime.
inline const char *status_text(kiln_status status) noexcept {
  static const char *const texts[] = {"ok",
                                      "invalid argument",
                                      "a required pointer is NULL",
                                      "a dimension is outside the bounds the model was compiled for",
                                      "dimensions do not fit each other",
                                      "an index in the input data is out of bounds",
                                      "the workspace is not aligned to 64 bytes",
                                      "the workspace is too small",
                                      "out of memory",
                                      "the CPU lacks instructions that the model was compiled for, or the system refuses the registers for tiles (AMX)",
                                      "the weights file does not belong to this model",
                                      "the weights file cannot be read",
                                      "the caller was built for another version of the Kiln ABI",
                                      "a thread could not be started",
                                      "an output's size depends on the data, and the context has no allocate hook",
                                      "a function of an external library has failed",
                                      ("strings have more bytes or parts than the model was compiled for: compile it with "
                                       "--limit=string-bytes=N or --limit=string-parts=N"),
                                      "a string that is cast to a number does not contain one",
                                      ("the model decodes pictures, and the context has no decode_image hook: set it to "
                                       "kiln_images_decode of libkiln_images, or to one of your own"),
                                      "a picture is broken, or its format is unknown",
                                      "a picture is larger than the model was compiled for",
                                      "the dimensions make a tensor or the workspace larger than 2^62 bytes",
                                      "the program lacks a function that computes an operator of the model",
                                      "a file of sound is broken, or its kind is unknown",
                                      "the model is sharded, and the context has no communicator of as many ranks",
                                      "the ranks differ in their libraries, dimensions or calls",
                                      "another rank did not come before the deadline",
                                      "another rank has failed"};
  const size_t number = static_cast<size_t>(status);
  return number < sizeof(texts) / sizeof(*texts) ? texts[number] : "unknown status";
}

} // namespace detail

} // namespace kiln

#if __cplusplus >= 202002L
template <typename T> inline constexpr bool std::ranges::enable_borrowed_range<kiln::tensor<T>> = true;
#endif

#endif // KILN_TENSOR_H
