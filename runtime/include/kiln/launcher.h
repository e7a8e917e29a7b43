/* What `kiln run`, `verify` and `bench` load to be ranks of a sharded model in several processes (`--launcher`): a shared library with these functions, which
 * joins the processes that something has started together. lib/kiln/kiln_openmpi.so and kiln_mpich.so have them; docs/Ranks.md says how to make one for another
 * MPI. So kiln itself needs no MPI. C ABI, C11 and C++17. */
#ifndef KILN_LAUNCHER_H
#define KILN_LAUNCHER_H

#include "kiln/communicator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first call, in every process. Makes the communicator of all processes, whose calls wait for others for deadline_ns nanoseconds at most. It belongs to
 * the library. kiln makes its calls, and the other two, on any thread, one at a time. Fails with what kiln_mpi_communicator_create() fails with, or with
 * THREAD_FAILURE if the calls must not come from several threads; then *communicator is NULL. */
kiln_status kiln_launcher_open(int64_t deadline_ns, const kiln_communicator **communicator);

/* The last call, in every process: waits for the others and frees the communicator. Not after a failure of the communicator. */
void kiln_launcher_close(void);

/* The last call instead, after a failure: ends this process and all others with this exit status. */
void kiln_launcher_abort(int status);

#ifdef __cplusplus
}
#endif

#endif /* KILN_LAUNCHER_H */
