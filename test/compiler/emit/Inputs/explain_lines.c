// What is wrong with the sizes of each line of the standard input: height seq rows columns.
#include "net.h"
#include <inttypes.h>
#include <stdio.h>

int main(void) {
  net_dims dims;
  char text[300];
  while (scanf("%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64, &dims.height, &dims.seq, &dims.rows, &dims.columns) == 4) {
    net_explain(&dims, text, sizeof text);
    puts(text);
  }
  return 0;
}
