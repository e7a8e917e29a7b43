/* libkiln_mpi.a: the communicator of a sharded model whose ranks are processes under MPI (version 3 or later). C ABI, C11 and C++17.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
 *     kiln_communicator *communicator;
 *     kiln_mpi_communicator_create(MPI_COMM_WORLD, 10000000000, &communicator);
 *     context.communicator = communicator;
 *
 * Its calls call MPI in the thread that makes them: MPI_THREAD_FUNNELED is enough if that is the thread that initialised MPI, else MPI_THREAD_SERIALIZED.
 * They return errors of MPI as KILN_STATUS_PEER_FAILED and abort nothing. MPI sees only buffers of the communicator's own, so that the memory of a call
 * belongs to the caller again when it returns, also after a failure. */
#ifndef KILN_MPI_H
#define KILN_MPI_H

#include "kiln/communicator.h"

/* Without the bindings for C++ that MPI 3 has removed. */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
/* The same in MPICH. */
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the communicator of this process: its rank and the number of ranks are those of `mpi`, which is duplicated, so that messages of the program cannot get
 * between. All processes of `mpi` call this, with the same deadline: the longest time that this call and those of the communicator wait for other ranks, in
 * nanoseconds; 0: no limit. The caller owns *communicator and frees it with kiln_mpi_communicator_destroy(). Fails with INVALID_ARGUMENT (MPI is not
 * initialised, or a deadline below 0), OUT_OF_MEMORY, PEER_LATE or PEER_FAILED, and then *communicator is NULL. */
kiln_status kiln_mpi_communicator_create(MPI_Comm mpi, int64_t deadline_ns, kiln_communicator **communicator);

/* All processes call this, before MPI_Finalize(). After a failure it waits for nobody, and leaves to the process what MPI may still use. NULL is allowed. */
void kiln_mpi_communicator_destroy(kiln_communicator *communicator);

#ifdef __cplusplus
}
#endif

#endif /* KILN_MPI_H */
