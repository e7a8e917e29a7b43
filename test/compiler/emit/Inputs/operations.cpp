// Calls the kernels of operations.mlir, which stand behind this text, and checks their numbers.
#include "ops_kernels.h"
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <initializer_list>

static int failures;
#define EXPECT(condition) ((condition) ? void() : void((++failures, std::printf("line %d: %s\n", __LINE__, #condition))))

static bool same(const int32_t *have, std::initializer_list<int32_t> want) {
  for (int32_t value : want)
    if (*have++ != value)
      return std::printf("have %d, want %d at %d\n", have[-1], value, int(&value - want.begin())), false;
  return true;
}

static void integers() {
  int32_t a[3] = {INT_MIN, 7, -7}, b[3] = {-1, 0, 2}, out[3 * 32] = {};
  ops_kernel_integers(a, b, out, 0, 3);
  EXPECT(same(out, {INT_MAX, INT_MIN + 1, INT_MIN, INT_MIN, 0, 0, INT_MIN, INT_MIN, INT_MIN, INT_MIN, -1, INT_MAX, 0, 0, -1, INT_MIN, -1, INT_MIN, 0, 0, 0, 0, -1}));
  EXPECT(same(out + 32, {7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 7, 7, 7, 0, 7, 7, 1, 0, 7, 7, 7}));
  EXPECT(same(out + 64, {-5, -9, -14, -3, INT_MAX - 3, -1, 1, -4, -3, 0, -5, -5, -28, 0x3ffffffe, -2, -7, -7, 7, 49, 1, -7, 249, -7}));
}

static void integerVectors() {
  int32_t a[4] = {INT_MAX, INT_MIN, -7, 9}, b[4] = {1, -1, 0, 40}, out[28] = {};
  ops_kernel_integer_vectors(a, b, out, 0, 1);
  EXPECT(same(out, {INT_MIN, INT_MAX, -7, 49, INT_MAX, INT_MIN, 0, 0, -2, 0, -7, 0, 1, 0, 1, 0}));
  EXPECT(same(out + 16, {1, INT_MIN, 0, 9, 1, 1}));
  EXPECT(same(out + 24, {9, 1, INT_MIN, 0}));
}

static void literals() {
  float in[2] = {NAN, 1}, out[8] = {};
  ops_kernel_literals(in, out, 0, 1);
  uint32_t bits[5];
  std::memcpy(bits, out, sizeof(bits));
  EXPECT(bits[0] == 0x7fc12345 && bits[1] == 0xff800000 && bits[2] == 1 && bits[3] == 0x3dcccccd && bits[4] == 0x7f7fffff);
  EXPECT(std::isnan(out[5]) && out[6] == 5 && out[7] == 0);
  in[0] = -3e9f;
  ops_kernel_literals(in, out, 0, 1);
  EXPECT(out[5] == 1 && out[6] == 6 && out[7] == -2147483648.0f);
}

static void loops() {
  float in[6] = {1, 2, 3, 4, 5, 6}, out[5] = {};
  ops_kernel_loops(in, out, 6, 0, 1);
  EXPECT(out[0] == 8 && out[1] == 13 && out[2] == 54 && out[3] == 64 && out[4] == 2);
  ops_kernel_loops(in, out, 0, 0, 1);
  EXPECT(out[0] == 0 && out[1] == 1 && out[2] == 0 && out[3] == 1 && out[4] == 0);
}

static void halves() {
  uint16_t in[4] = {0x3c00, 0xbc00, 0x3800, 0x0001}, out[5] = {};
  double wide[5] = {};
  ops_kernel_halves(in, out, wide, 0, 1);
  EXPECT(out[0] == 0x4000 && out[1] == 0 && out[2] == 0x4090 && out[3] == 0x4080 && out[4] == 0x3f00);
  EXPECT(wide[0] == 2 && wide[1] == 0 && wide[2] == 4.5 && wide[4] == 4);
}

static void lanes() {
  float in[16], out[18] = {};
  for (int i = 0; i < 16; ++i)
    in[i] = float(i / 2);
  int32_t status = 0;
  ops_kernel_lanes(in, out, &status, 0, 1);
  EXPECT(out[0] == 1 && out[1] == 0 && out[2] == 1 && out[3] == 3 && out[4] == 7 && out[7] == 148);
  EXPECT(out[8] == 4 && out[11] == 7 && out[12] == 128 && out[13] == 7 && status == 0);
  EXPECT(out[14] == 2 && out[15] == 3 && out[16] == 10 && out[17] == 12);
  in[15] = 101;
  ops_kernel_lanes(in, out, &status, 0, 1);
  EXPECT(status == KILN_STATUS_INDEX_OUT_OF_BOUNDS);
}

int main() {
  integers();
  integerVectors();
  literals();
  loops();
  halves();
  lanes();
  return failures != 0;
}
