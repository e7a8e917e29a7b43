// Two models of one library by their classes.
#include "mt.h"

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> x(2 * 64, 1), middle(2 * 64), y(2 * 64), rows(64), twice(2 * 64);
  std::vector<int64_t> ids = {1};
  alignas(64) static unsigned char workspace[1 << 16];
  if (mt_first_call().N(2).x(x).y(middle).run(workspace) != KILN_STATUS_OK || mt_first_call().N(2).x(middle).y(twice).run(workspace) != KILN_STATUS_OK ||
      mt_second_call().N(2).K(1).x(middle).ids(ids).y(y).rows(rows).run(workspace) != KILN_STATUS_OK)
    return 1;
  for (size_t i = 0; i < y.size(); ++i)
    if (y[i] != -twice[i])
      return std::puts("different");
  std::puts("equal");
}
