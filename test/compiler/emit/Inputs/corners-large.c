/* Runs a model of uint8[n] with far more elements than there is memory for. */
#define _GNU_SOURCE
#include "large.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { piece = 2 << 20, page = 4096 };

/* `size` bytes that end where nobody may read; all pieces but the last page are the same memory. */
static unsigned char *reserve(size_t size) {
  const size_t pages = (size + page - 1) / page * page;
  const int file = memfd_create("piece", 0);
  if (file < 0 || ftruncate(file, piece))
    exit(2);
  unsigned char *const begin = mmap(NULL, pages + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED)
    exit(2);
  for (size_t at = 0; at < pages - page; at += piece) {
    const size_t rest = pages - page - at, length = rest < piece ? rest : piece;
    if (mmap(begin + page + at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
      exit(2);
  }
  if (mprotect(begin + pages, page, PROT_READ | PROT_WRITE))
    exit(2);
  close(file);
  return begin + page + (pages - size);
}

int main(void) {
  const int64_t counts[] = {INT64_C(2147483647), INT64_C(2147483653), INT64_C(4294967295), INT64_C(4294967301)};
  for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); ++i) {
    const large_dims dims = {counts[i]};
    unsigned char *const x = reserve((size_t)counts[i]), *const z = reserve((size_t)counts[i]);
    x[counts[i] - 1] = 7;
    int64_t place = -1;
    const large_inputs inputs = {x};
    const large_outputs outputs = {z, &place};
    const size_t size = large_workspace_size(&dims);
    void *workspace = NULL;
    if (size > (1 << 20) || posix_memalign(&workspace, KILN_ALIGNMENT, size ? size : 1))
      return 2;
    const kiln_status status = large_run(&dims, &inputs, &outputs, workspace, NULL);
    const int right = !status && place == counts[i] - 1 && z[0] == 1 && z[counts[i] - 2] == 1 && z[counts[i] - 1] == 8;
    printf("%lld: %s\n", (long long)counts[i], right ? "ok" : "wrong");
    free(workspace);
  }
  return 0;
}
