/* Prints what is wrong with arguments, and compares the answer for each size with that of the run. */
#include "net.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

alignas(KILN_ALIGNMENT) static unsigned char workspace[1 << 20];
static float memory[9][1 << 16];

static void explain(net_dims dims) {
  char text[256];
  if (net_explain(&dims, text, sizeof text) == KILN_STATUS_OK)
    puts("nothing is wrong");
  else
    puts(text);
}

static void explain_run(const net_dims *dims, const net_inputs *inputs, const net_outputs *outputs, const void *place, size_t bytes,
                        const kiln_context *context) {
  char text[256];
  if (net_explain_run(dims, inputs, outputs, place, bytes, context, text, sizeof text) == KILN_STATUS_OK)
    puts("nothing is wrong");
  else
    puts(text);
}

/* The run and its explanation answer the same, and the counts and shapes are those of the run's signature. */
static int compare(net_dims dims, const net_inputs *inputs, const net_outputs *outputs) {
  char text[256] = "?";
  int64_t shape[4];
  kiln_status said = net_explain(&dims, text, sizeof text), ran = net_run(&dims, inputs, outputs, workspace, NULL);
  if (said != ran || (said == KILN_STATUS_OK) != (text[0] == '\0') || net_explain(&dims, NULL, 0) != ran)
    return printf("height %d, seq %d: explained %d, ran %d, %s\n", (int)dims.height, (int)dims.seq, (int)said, (int)ran, text);
  net_y_shape(&dims, shape);
  if (ran == KILN_STATUS_OK && (shape[2] != dims.height / 2 || net_y_count(&dims) != (size_t)(dims.height / 2 * 4)))
    return printf("height %d: %d rows\n", (int)dims.height, (int)shape[2]);
  if (ran == KILN_STATUS_OK && (net_v_count(&dims) != (size_t)((dims.seq + 2) / 3 * 2) || net_z_count(&dims) != (size_t)(2 * dims.seq)))
    return printf("seq %d: %d\n", (int)dims.seq, (int)net_v_count(&dims));
  return 0;
}

int main(void) {
  net_inputs inputs = {memory[0], memory[1], memory[2], memory[3], memory[4]};
  net_outputs outputs = {memory[5], memory[6], memory[7], memory[8]};
  net_dims good = {8, 3, 2, 2}, dims = good;
  kiln_context context = KILN_CONTEXT_INIT;
  char small[12];
  dims.height = 6, explain(dims), dims = good;
  dims.height = 1, explain(dims), dims = good;
  dims.seq = 7, explain(dims), dims = good;
  dims.rows = 3, dims.columns = 4, explain(dims), dims = good;
  dims.columns = 65, explain(dims), dims = good;
  dims.columns = 0, explain(dims), dims = good;
  dims.seq = -1, explain(dims), dims = good;
  explain_run(NULL, &inputs, &outputs, workspace, sizeof workspace, NULL);
  explain_run(&dims, NULL, &outputs, workspace, sizeof workspace, NULL);
  inputs.t = NULL, explain_run(&dims, &inputs, &outputs, workspace, sizeof workspace, NULL), inputs.t = memory[1];
  outputs.z = NULL, explain_run(&dims, &inputs, &outputs, workspace, sizeof workspace, NULL), outputs.z = memory[6];
  explain_run(&dims, &inputs, &outputs, NULL, sizeof workspace, NULL);
  explain_run(&dims, &inputs, &outputs, workspace, 8, NULL);
  explain_run(&dims, &inputs, &outputs, workspace + 8, sizeof workspace - 8, NULL);
  context.abi_version = 0, explain_run(&dims, &inputs, &outputs, workspace, sizeof workspace, &context), context.abi_version = KILN_ABI_VERSION;
  dims.height = 6, net_explain(&dims, small, 12), puts(small), dims = good;
  if (net_explain_run(&dims, &inputs, &outputs, workspace, sizeof workspace, &context, small, sizeof small) != KILN_STATUS_OK || small[0])
    return 1;
  for (dims.height = -1; dims.height < 200; ++dims.height)
    if (compare(dims, &inputs, &outputs))
      return 1;
  for (dims = good, dims.seq = -1; dims.seq < 20; ++dims.seq)
    if (compare(dims, &inputs, &outputs))
      return 1;
  for (dims = good, dims.columns = -1; dims.columns < 70; ++dims.columns)
    if (compare(dims, &inputs, &outputs))
      return 1;
  dims = good, dims.seq = 1 << 21;
  if (net_z_count(&dims) != SIZE_MAX)
    return 1;
  puts("sizes agree");
  return 0;
}
