// Calls a model through its session, and makes every mistake that it names.
#include "net.hpp"

#include <array>
#include <cstdio>
#include <type_traits>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

static_assert(!std::is_copy_constructible_v<net_session> && std::is_nothrow_move_constructible_v<net_session>, "a session is move-only");

template <typename T> static void print(const char *name, kiln::tensor<T> tensor) {
  std::printf("%s [%d,%d] =", name, int(tensor.extent(0)), int(tensor.extent(1)));
  for (T value : tensor)
    std::printf(" %d", int(value));
}

static void fail(net_session &session) {
  session.try_run();
  std::printf("%s\n", session.message());
}

int main() {
  const std::vector<float> sparse = {1, 0, 2, 0, 3, 0}, ones(9, 1.0f);
  std::vector<uint16_t> half(9, 0x3c00);
  net_session session;
  session.x(sparse, {2, 3}).h({half.data(), 6}).run();
  std::printf("shape: ");
  print("y", session.y());
  print(", at", session.at());

  session.x(ones, std::array<int64_t, 2>{3, 3}).h(half).run();
  std::printf("\nagain, larger: ");
  print("y", session.y());
  net_session moved = std::move(session);
  std::printf("\nmoved: ");
  print("y", moved.run().y());
#if __cplusplus >= 202002L
  std::span<const float> span = moved.y();
  if (span.size() != 9)
    return 1;
#endif

  std::array<float, 3> y = {};
  net_session own;
  own.batch(1).x({ones.data(), 3});
#ifdef KILN_HAS_FLOAT16
  const std::array<kiln::float16, 3> one = {kiln::float16(1), kiln::float16(1), kiln::float16(1)};
  std::array<kiln::float16, 3> g = {};
  own.h(one).g(g).y(y).run();
  kiln::tensor<kiln::float16> same = own.g().as<kiln::float16>();
  std::printf("\nown memory: %d %d %d, f16 %d %d %d\n", int(y[0]), int(y[1]), int(own.y()[2]), int(g[0]), int(g[1]), int(same[2]));
#else
  own.h({half.data(), 3}).y(y).run();
  std::printf("\nown memory: %d %d %d, f16 3 3 3\n", int(y[0]), int(y[1]), int(own.y()[2]));
#endif

  net_session wrong;
  fail(wrong);
  fail(wrong.batch(9));
  fail(wrong.batch(1).x({ones.data(), 3}));
  fail(wrong.h({half.data(), 3}).x({ones.data(), 5}));
  fail(wrong.x({ones.data(), 3}, {3}));
  fail(wrong.x({ones.data(), 3}, {1, 3}).h({half.data(), 6}, {2, 3}));
  fail(wrong.h({half.data(), 3}).x({static_cast<const float *>(nullptr), 3}));
  fail(wrong.x({ones.data(), 3}).y({y.data(), 2}));
  int64_t at = 0;
  fail(wrong.y(y).at({&at, 1}));
  std::printf("no result: %zu elements\n", wrong.y().size());
#if defined(__cpp_exceptions)
  try {
    wrong.run();
  } catch (const kiln::error &error) {
    std::printf("status %d\n", int(error.status()));
  }
#else
  std::printf("status %d\n", int(wrong.try_run()));
#endif
}
