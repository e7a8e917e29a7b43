// Runs the model of single-source.onnxtxt on 0, 1, 2 and so on.
#include "net.h"

#include <cstdio>

alignas(KILN_ALIGNMENT) static unsigned char workspace[NET_WORKSPACE_SIZE + 1];

int main() {
  float x[3 * 37], y[3 * 5];
  for (int i = 0; i < 3 * 37; ++i)
    x[i] = float(i);
  net_inputs inputs = {x};
  net_outputs outputs = {y};
  if (net_run(&inputs, &outputs, workspace, nullptr) != KILN_STATUS_OK)
    return 1;
  for (float value : y)
    std::printf("%.9g\n", double(value));
}
