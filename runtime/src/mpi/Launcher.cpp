// The functions of kiln/launcher.h for ranks under MPI: with Mpi.cpp and the runtime, a shared library that kiln loads.
#include "kiln/launcher.h"
#include "kiln/mpi.h"

#include "../System.h"

#include <stdlib.h>

#define KILN_EXPORTED extern "C" __attribute__((visibility("default")))

static kiln_communicator *world;

KILN_EXPORTED kiln_status kiln_launcher_open(int64_t deadline_ns, const kiln_communicator **communicator) {
  int provided = MPI_THREAD_SINGLE;
  *communicator = nullptr;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
    return KILN_STATUS_PEER_FAILED;
  if (provided < MPI_THREAD_SERIALIZED)
    return KILN_STATUS_THREAD_FAILURE;
  kiln_status status = kiln_mpi_communicator_create(MPI_COMM_WORLD, deadline_ns, &world);
  *communicator = world;
  return status;
}

KILN_EXPORTED void kiln_launcher_close(void) {
  kiln_mpi_communicator_destroy(world);
  MPI_Finalize();
}

KILN_EXPORTED void kiln_launcher_abort(int status) {
  // MPICH's mpirun drops what it has not yet passed on when a rank aborts: the caller's message gets a tenth of a second.
  constexpr int64_t forwardingNs = 100000000;
  kiln::restThread(forwardingNs);
  MPI_Abort(MPI_COMM_WORLD, status);
  _Exit(status); // where MPI_Abort returns
}
