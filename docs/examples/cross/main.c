/* Runs a model of four numbers twice, by Kiln's objects and by what this project has compiled of Kiln's text. Prints the results. */
#include "objects.h"
#include "text.h"

#include "kiln/runtime.h"
#include <stdio.h>

int main(int count, char **arguments) {
  const float x[4] = {1, 2, 3, 4};
  float y[4], z[4];
  objects_inputs in = {x};
  objects_outputs out = {y};
  text_inputs text_in = {x};
  text_outputs text_out = {z};
  kiln_weights weights;
  if (count != 2 || kiln_weights_map(arguments[1], OBJECTS_WEIGHTS_SIZE, OBJECTS_WEIGHTS_CHECKSUM, &weights))
    return 1;
  if (objects_run(&in, &out, weights.data, NULL, NULL) || text_run(&text_in, &text_out, NULL, NULL))
    return 2;
  kiln_weights_unmap(&weights);
  for (int i = 0; i < 4; ++i)
    if (y[i] != z[i])
      return 3;
  printf("%g %g %g %g, by %s\n", y[0], y[1], y[2], y[3], objects_target());
  return 0;
}
