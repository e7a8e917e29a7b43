// Each rank has its number plus one; prints the sum.
#include <kiln/mpi.h>
#include <kiln/runtime.h>

#include <stdio.h>

int main(int argc, char **argv) {
  kiln_communicator *c = NULL;
  if (kiln_mpi_communicator_create(MPI_COMM_WORLD, 0, &c) != KILN_STATUS_INVALID_ARGUMENT || c)
    return 2; // MPI is not initialised yet
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (kiln_mpi_communicator_create(MPI_COMM_WORLD, -1, &c) != KILN_STATUS_INVALID_ARGUMENT ||
      kiln_mpi_communicator_create(MPI_COMM_WORLD, 0, NULL) != KILN_STATUS_NULL_POINTER)
    return 2;
  kiln_status status = kiln_mpi_communicator_create(MPI_COMM_WORLD, 10000000000, &c);
  if (status == KILN_STATUS_OK) {
    const int32_t all[] = {0, 1};
    kiln_ranks group = {all, c->size, c->rank};
    float value = (float)(c->rank + 1);
    status = c->all_reduce(c->user, &group, &value, 1, KILN_ELEMENT_F32, KILN_REDUCE_SUM);
    printf("rank %d of %d: %g\n", c->rank, c->size, value);
  }
  if (status != KILN_STATUS_OK)
    fprintf(stderr, "%s\n", kiln_status_string(status));
  kiln_mpi_communicator_destroy(c);
  MPI_Finalize();
  return status != KILN_STATUS_OK;
}
