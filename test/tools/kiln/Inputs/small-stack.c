/* Runs the model on a thread whose stack is little more than its header says, and looks how far the stack was used. */
#include "m.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERN = 0x5a, MARGIN = 24 << 10 };

static float x[4 * 48 * 64], y[4 * 48 * 64];
static char *workspace;

static void *run(void *dims) {
  m_inputs inputs = {x};
  m_outputs outputs = {y};
  return (void *)(intptr_t)m_run(dims, &inputs, &outputs, workspace, NULL);
}

static void *nothing(void *dims) { return dims ? NULL : dims; }

/* Bytes of a new thread's stack that were written. */
static size_t measure(void *(*function)(void *), void *dims) {
  size_t size = (M_STACK_SIZE + MARGIN + 4095) / 4096 * 4096, untouched = 0;
  unsigned char *stack = aligned_alloc(4096, size);
  pthread_attr_t attributes;
  pthread_t thread;
  void *status;
  memset(stack, PATTERN, size);
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, size) || pthread_create(&thread, &attributes, function, dims) || pthread_join(thread, &status) || status)
    exit(1);
  while (untouched < size && stack[untouched] == PATTERN)
    ++untouched;
  free(stack);
  return size - untouched;
}

int main(void) {
  m_dims dims = {4};
  size_t own, used;
  workspace = aligned_alloc(64, (m_workspace_size(&dims) + 127) / 64 * 64);
  for (size_t i = 0; i < sizeof(x) / sizeof(*x); ++i)
    x[i] = (float)(i % 17);
  own = measure(nothing, &dims);
  used = measure(run, &dims);
  printf("the run took %zu of %d bytes\n", used - own, M_STACK_SIZE);
  return used - own > M_STACK_SIZE || (used - own) * 4 < M_STACK_SIZE ? 1 : 0;
}
