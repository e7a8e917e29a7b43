// The functions of kiln/onednn.h by themselves: states, threads, errors. What models compute with them: test/passes/lowering/calls/libraries.test.
#include "kiln/onednn.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

struct alignas(KILN_ALIGNMENT) State {
  char bytes[KILN_ONEDNN_STATE_BYTES] = {};
};

// A product of `rows` rows with a constant 3 x 2 matrix, and a bias.
struct Product {
  std::vector<float> lhs, rhs{1, 2, 3, 4, 5, 6}, bias{10, -1000}, out;
  std::vector<int64_t> shape;

  explicit Product(int64_t rows, int64_t flags = KILN_ONEDNN_BIAS | KILN_ONEDNN_RELU | KILN_ONEDNN_CONSTANT)
      : lhs(rows * 3, 1.0f), out(rows * 2, -1.0f), shape{flags, 2, 0, 0, rows, 2, 3, 3, 1, 2, 1} {}
  kiln_status run(State &state, int64_t first = 0, int64_t last = 1, int64_t parts = 1) {
    return kiln_onednn_matmul(state.bytes, first, last, parts, lhs.data(), rhs.data(), bias.data(), out.data(), shape.data());
  }
  bool isRight() const {
    for (size_t i = 0; i < out.size(); i += 2)
      if (out[i] != 19.0f || out[i + 1] != 0.0f)
        return false;
    return true;
  }
};

TEST(OneDnn, KeepsPlansInTheState) {
  State state, untouched;
  Product product(4);
  ASSERT_EQ(product.run(state), KILN_STATUS_OK);
  EXPECT_TRUE(product.isRight());
  EXPECT_NE(0, memcmp(state.bytes, untouched.bytes, sizeof state.bytes));
  // The weights are constant: the state has its own by now, in whatever order, or looks at these.
  product.out.assign(8, -1.0f);
  ASSERT_EQ(product.run(state), KILN_STATUS_OK);
  EXPECT_TRUE(product.isRight());
}

TEST(OneDnn, ServesMoreSizesThanItKeeps) {
  State state;
  for (int round = 0; round < 2; ++round)
    for (int64_t rows = 1; rows <= 80; ++rows) {
      Product product(rows);
      ASSERT_EQ(product.run(state), KILN_STATUS_OK);
      ASSERT_TRUE(product.isRight()) << rows;
    }
}

TEST(OneDnn, GoesOnAfterRelease) {
  State state;
  Product product(4);
  ASSERT_EQ(product.run(state), KILN_STATUS_OK);
  kiln_onednn_release();
  kiln_onednn_release();
  product.out.assign(8, -1.0f);
  ASSERT_EQ(product.run(state), KILN_STATUS_OK);
  EXPECT_TRUE(product.isRight());
}

TEST(OneDnn, LeavesTheCallersNumberOfThreads) {
  auto get = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (!get || !set)
    GTEST_SKIP() << "this oneDNN is not built on OpenMP";
  set(3);
  State state;
  Product product(64);
  ASSERT_EQ(product.run(state), KILN_STATUS_OK);
  EXPECT_TRUE(product.isRight());
  EXPECT_EQ(get(), 3);
}

TEST(OneDnn, PartsMakeTheWhole) {
  State state;
  for (int64_t rows : {1, 2, 3, 17, 64})
    for (int64_t parts : {1, 2, 3, 5}) {
      Product product(rows);
      for (int64_t part = 0; part < parts; ++part)
        ASSERT_EQ(product.run(state, part, part + 1, parts), KILN_STATUS_OK);
      EXPECT_TRUE(product.isRight()) << rows << " rows in " << parts;
      product.out.assign(product.out.size(), -1.0f);
      if (parts == 5) {
        ASSERT_EQ(product.run(state, 2, 5, 5), KILN_STATUS_OK);
        ASSERT_EQ(product.run(state, 0, 2, 5), KILN_STATUS_OK);
        EXPECT_TRUE(product.isRight()) << rows << " rows in 2 and 3 of 5";
      }
    }
}

// Each in parts of 1 to 4 against the whole: one image by lines, several by images or lines; strides, dilations, padding on either side.
TEST(OneDnn, PartsOfConvolutions) {
  for (int64_t batch : {1, 2, 3})
    for (int64_t stride : {1, 2})
      for (int64_t dilation : {1, 2}) {
        constexpr int64_t channels = 4, filters = 5, height = 11, width = 6, low = 1, high = 2;
        int64_t outHeight = (height + low + high - 2 * dilation - 1) / stride + 1, outWidth = width;
        std::vector<float> input(batch * height * width * channels), weight(filters * channels * 3), whole(batch * outHeight * outWidth * filters), out;
        for (size_t i = 0; i < input.size(); ++i)
          input[i] = static_cast<float>(i * 7 % 19) - 9;
        for (size_t i = 0; i < weight.size(); ++i)
          weight[i] = static_cast<float>(i * 5 % 11) - 5;
        int64_t shape[] = {0, 1, 2, batch, 1, channels, filters, height, width, outHeight, outWidth, 3, 1, stride, 1, dilation, 1, low, 0, high, 0};
        // The last lines may look at less than the padding behind.
        State state;
        ASSERT_EQ(kiln_onednn_conv(state.bytes, 0, 1, 1, input.data(), weight.data(), nullptr, whole.data(), shape), KILN_STATUS_OK);
        for (int64_t parts : {2, 3, 4}) {
          out.assign(whole.size(), 1e9f);
          for (int64_t part = 0; part < parts; ++part)
            ASSERT_EQ(kiln_onednn_conv(state.bytes, part, part + 1, parts, input.data(), weight.data(), nullptr, out.data(), shape), KILN_STATUS_OK);
          EXPECT_EQ(out, whole) << batch << " images, stride " << stride << ", dilation " << dilation << ", " << parts << " parts";
        }
      }
}

// Channels first: images are not cut, so that there are parts without any.
TEST(OneDnn, PartsOfWholeImages) {
  for (int64_t batch : {1, 2, 3}) {
    std::vector<float> input(batch * 2 * 5), weight{1, 2, 3, 4, 5, 6}, whole(batch * 4), out(whole.size(), 1e9f);
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = static_cast<float>(i * 7 % 19);
    int64_t shape[] = {0, 0, 1, batch, 1, 2, 1, 5, 4, 3, 1, 1, 0, 1};
    State state;
    ASSERT_EQ(kiln_onednn_conv(state.bytes, 0, 1, 1, input.data(), weight.data(), nullptr, whole.data(), shape), KILN_STATUS_OK);
    for (int64_t i = 0; i < batch * 4; ++i) {
      float sum = 0;
      for (int64_t channel = 0; channel < 2; ++channel)
        for (int64_t k = 0; k < 3 && i % 4 + k < 5; ++k)
          sum += input[i / 4 * 10 + channel * 5 + i % 4 + k] * weight[channel * 3 + k];
      EXPECT_EQ(whole[i], sum);
    }
    for (int64_t part = 0; part < 4; ++part)
      ASSERT_EQ(kiln_onednn_conv(state.bytes, part, part + 1, 4, input.data(), weight.data(), nullptr, out.data(), shape), KILN_STATUS_OK);
    EXPECT_EQ(out, whole) << batch << " images";
  }
}

// Two groups of one channel each, and images of one line, which are cut along it.
TEST(OneDnn, GroupsAndImagesOfOneLine) {
  constexpr int64_t width = 6;
  std::vector<float> input(width * 2), weight{1, 2, 3, -1, -2, -3}, whole(input.size()), out;
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<float>(i * 7 % 19);
  int64_t shape[] = {0, 1, 2, 1, 2, 2, 2, 1, width, 1, width, 1, 3, 1, 1, 1, 1, 0, 1, 0, 1};
  State state;
  ASSERT_EQ(kiln_onednn_conv(state.bytes, 0, 1, 1, input.data(), weight.data(), nullptr, whole.data(), shape), KILN_STATUS_OK);
  for (int64_t x = 0; x < width; ++x)
    for (int64_t group = 0; group < 2; ++group) {
      float sum = 0;
      for (int64_t k = 0; k < 3; ++k)
        if (x + k >= 1 && x + k <= width)
          sum += input[(x + k - 1) * 2 + group] * weight[group * 3 + k];
      EXPECT_EQ(whole[x * 2 + group], sum) << x;
    }
  for (int64_t parts : {2, 4}) {
    out.assign(whole.size(), 1e9f);
    for (int64_t part = 0; part < parts; ++part)
      ASSERT_EQ(kiln_onednn_conv(state.bytes, part, part + 1, parts, input.data(), weight.data(), nullptr, out.data(), shape), KILN_STATUS_OK);
    EXPECT_EQ(out, whole) << parts << " parts";
  }
}

TEST(OneDnn, PartsOfBatchesColumnsAndRows) {
  State batches, columns, rows, norms;
  float lhs[12], rhs[12], whole[8], out[8], wide[3 * 40], bias[40], row[40], wholeRow[40];
  for (int i = 0; i < 12; ++i)
    lhs[i] = static_cast<float>(i), rhs[i] = static_cast<float>(12 - i);
  // Two batches of 2 x 3 by 3 x 2.
  int64_t batched[] = {0, 3, 0, 0, 2, 2, 2, 3, 6, 3, 1, 6, 2, 1};
  ASSERT_EQ(kiln_onednn_matmul(batches.bytes, 0, 1, 1, lhs, rhs, nullptr, whole, batched), KILN_STATUS_OK);
  for (int64_t parts : {2, 3}) {
    for (int64_t part = 0; part < parts; ++part)
      ASSERT_EQ(kiln_onednn_matmul(batches.bytes, part, part + 1, parts, lhs, rhs, nullptr, out, batched), KILN_STATUS_OK);
    EXPECT_EQ(0, memcmp(out, whole, sizeof out));
  }
  // One row by 40 columns whose numbers are constant, cut between vectors.
  for (int i = 0; i < 120; ++i)
    wide[i] = static_cast<float>(i % 7);
  for (int i = 0; i < 40; ++i)
    bias[i] = static_cast<float>(i);
  int64_t single[] = {KILN_ONEDNN_BIAS | KILN_ONEDNN_CONSTANT, 2, 0, 0, 1, 40, 3, 3, 1, 40, 1};
  ASSERT_EQ(kiln_onednn_matmul(columns.bytes, 0, 1, 1, lhs, wide, bias, wholeRow, single), KILN_STATUS_OK);
  for (int64_t part = 0; part < 2; ++part)
    ASSERT_EQ(kiln_onednn_matmul(columns.bytes, part, part + 1, 2, lhs, wide, bias, row, single), KILN_STATUS_OK);
  EXPECT_EQ(0, memcmp(row, wholeRow, sizeof row));
  int64_t lines[] = {0, 4, 3};
  float first[12], second[12];
  ASSERT_EQ(kiln_onednn_softmax(rows.bytes, 0, 1, 1, lhs, first, lines), KILN_STATUS_OK);
  ASSERT_EQ(kiln_onednn_softmax(rows.bytes, 1, 3, 3, lhs, second, lines), KILN_STATUS_OK);
  ASSERT_EQ(kiln_onednn_softmax(rows.bytes, 0, 1, 3, lhs, second, lines), KILN_STATUS_OK);
  EXPECT_EQ(0, memcmp(first, second, sizeof first));
  ASSERT_EQ(kiln_onednn_layer_norm(norms.bytes, 0, 1, 1, lhs, rhs, nullptr, first, 0.1f, lines), KILN_STATUS_OK);
  for (int64_t part = 0; part < 3; ++part)
    ASSERT_EQ(kiln_onednn_layer_norm(norms.bytes, part, part + 1, 3, lhs, rhs, nullptr, second, 0.1f, lines), KILN_STATUS_OK);
  EXPECT_EQ(0, memcmp(first, second, sizeof first));
}

TEST(OneDnn, ServesThreadsAtOnce) {
  State state;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&state, &wrong, i] {
      for (int round = 0; round < 40; ++round) {
        Product product(1 + (round + i) % 7);
        wrong[i] += product.run(state) != KILN_STATUS_OK || !product.isRight();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(OneDnn, NothingToDo) {
  State state;
  Product none(0);
  EXPECT_EQ(none.run(state), KILN_STATUS_OK);
  // Without depth: the bias alone.
  Product flat(2);
  flat.shape[6] = 0;
  ASSERT_EQ(flat.run(state), KILN_STATUS_OK);
  EXPECT_EQ(flat.out, (std::vector<float>{10, 0, 10, 0}));
  float value = 7;
  int64_t empty[] = {0, 0, 5}, conv[] = {0, 1, 1, 0, 1, 1, 1, 4, 4, 1, 1, 1, 0, 0};
  EXPECT_EQ(kiln_onednn_softmax(state.bytes, 0, 1, 1, &value, &value, empty), KILN_STATUS_OK);
  EXPECT_EQ(kiln_onednn_layer_norm(state.bytes, 0, 1, 1, &value, &value, &value, &value, 0.1f, empty), KILN_STATUS_OK);
  EXPECT_EQ(kiln_onednn_conv(state.bytes, 0, 1, 1, &value, &value, &value, &value, conv), KILN_STATUS_OK);
  EXPECT_EQ(value, 7.0f);
}

TEST(OneDnn, ReportsWhatIsRefused) {
  State state;
  float value[64] = {};
  // An output of 9 does not follow from an input of 4.
  int64_t conv[] = {0, 1, 1, 1, 1, 1, 1, 4, 9, 1, 1, 1, 0, 0};
  EXPECT_EQ(kiln_onednn_conv(state.bytes, 0, 1, 1, value, value, value, value, conv), KILN_STATUS_LIBRARY_FAILURE);
  Product product(4);
  product.shape[6] = -1;
  EXPECT_EQ(product.run(state), KILN_STATUS_LIBRARY_FAILURE);
  product.shape[6] = 3;
  EXPECT_EQ(product.run(state), KILN_STATUS_OK);
}

TEST(OneDnn, WinogradsForm) {
  constexpr int64_t channels = 32, size = 9;
  std::vector<float> input(channels * size * size), weight(channels * channels * 9), bias(channels), direct(input.size()), winograd(input.size());
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<float>(i % 17) * 0.125f - 1;
  for (size_t i = 0; i < weight.size(); ++i)
    weight[i] = static_cast<float>(i % 5) * 0.25f - 0.5f;
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] = static_cast<float>(i);
  int64_t flags = KILN_ONEDNN_BIAS | KILN_ONEDNN_CONSTANT;
  std::vector<int64_t> shape{flags, 1, 2, 1, 1, channels, channels, size, size, size, size, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  State first, second;
  ASSERT_EQ(kiln_onednn_conv(first.bytes, 0, 1, 1, input.data(), weight.data(), bias.data(), direct.data(), shape.data()), KILN_STATUS_OK);
  shape[0] |= KILN_ONEDNN_WINOGRAD;
  for (int round = 0; round < 2; ++round) {
    winograd.assign(winograd.size(), 0.0f);
    ASSERT_EQ(kiln_onednn_conv(second.bytes, 0, 1, 1, input.data(), weight.data(), bias.data(), winograd.data(), shape.data()), KILN_STATUS_OK);
    for (size_t i = 0; i < direct.size(); ++i)
      ASSERT_NEAR(winograd[i], direct[i], 1e-3) << i;
  }
  // Parts are channels of the result.
  for (int64_t parts : {2, 3}) {
    winograd.assign(winograd.size(), 0.0f);
    for (int64_t part = 0; part < parts; ++part)
      ASSERT_EQ(kiln_onednn_conv(second.bytes, part, part + 1, parts, input.data(), weight.data(), bias.data(), winograd.data(), shape.data()),
                KILN_STATUS_OK);
    for (size_t i = 0; i < direct.size(); ++i)
      ASSERT_NEAR(winograd[i], direct[i], 1e-3) << i << " of " << parts << " parts";
  }
}

TEST(OneDnn, SoftmaxAndLayerNorm) {
  State state, other, third;
  const float x[4] = {0, 0, 1, 3};
  float y[4];
  int64_t rows[] = {0, 2, 2};
  ASSERT_EQ(kiln_onednn_softmax(state.bytes, 0, 1, 1, x, y, rows), KILN_STATUS_OK);
  EXPECT_FLOAT_EQ(y[0], 0.5f);
  EXPECT_NEAR(y[3], 1 / (1 + std::exp(-2.0f)), 1e-6);
  rows[0] = KILN_ONEDNN_LOG;
  ASSERT_EQ(kiln_onednn_softmax(other.bytes, 0, 1, 1, x, y, rows), KILN_STATUS_OK);
  EXPECT_NEAR(y[0], -std::log(2.0f), 3e-6);
  const float scale[2] = {2, 3}, bias[2] = {0.5f, 0.25f};
  rows[0] = KILN_ONEDNN_BIAS;
  ASSERT_EQ(kiln_onednn_layer_norm(third.bytes, 0, 1, 1, x, scale, bias, y, 0.0f, rows), KILN_STATUS_OK);
  EXPECT_NEAR(y[2], -2 + 0.5f, 1e-5);
  EXPECT_NEAR(y[3], 3 + 0.25f, 1e-5);
  // The epsilon is part of what tells operations apart.
  ASSERT_EQ(kiln_onednn_layer_norm(third.bytes, 0, 1, 1, x, scale, bias, y, 3.0f, rows), KILN_STATUS_OK);
  EXPECT_NEAR(y[3], 1.5f + 0.25f, 1e-5);
}

} // namespace
