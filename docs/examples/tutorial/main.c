/* Says which kind of wine 13 measurements are of: main.c of docs/Tutorial.md. */
#include "wine.h"

#include <stdio.h>
#include <stdlib.h>

static _Alignas(64) unsigned char workspace[WINE_WORKSPACE_SIZE];

int main(int argc, char **argv) {
  float measurements[13], probabilities[3];
  if (argc != 14) {
    fputs("usage: wine MEASUREMENT...    (13 numbers)\n", stderr);
    return 2;
  }
  for (int i = 0; i < 13; ++i)
    measurements[i] = strtof(argv[i + 1], NULL);

  wine_inputs in = {measurements};
  wine_outputs out = {probabilities};
  kiln_status status = wine_run(&in, &out, workspace, NULL);
  if (status != KILN_STATUS_OK) {
    fprintf(stderr, "status %d\n", status);
    return 1;
  }
  for (int kind = 0; kind < 3; ++kind)
    printf("kind %d: %5.1f %%\n", kind, 100 * probabilities[kind]);
  return 0;
}
