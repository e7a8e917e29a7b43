/* A launcher around the one for MPI, whose rank 1 does what KILN_TEST_FAULT says: `output` changes a sum, `library` has another fingerprint
 * in runs of the model, `version` where the processes compare their versions. With -DALONE it is one
 * of two ranks and has no MPI; the other one never comes, or with `join` this one cannot join, with `begin` not
 * compare versions; with `start` and `finish`, the first and the last call do not return. */
#include "kiln/launcher.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int has_fault(const char *name) {
  const char *fault = getenv("KILN_TEST_FAULT");
  return fault && strcmp(fault, name) == 0;
}

static kiln_communicator changed;

#ifdef ALONE
static kiln_status send_late(void *user, int32_t rank, const void *data, int64_t bytes) {
  (void)user, (void)rank, (void)data, (void)bytes;
  return KILN_STATUS_PEER_LATE;
}

static kiln_status begin_alone(void *user, const uint8_t fingerprint[16]) {
  (void)user, (void)fingerprint;
  return has_fault("begin") ? KILN_STATUS_PEER_FAILED : KILN_STATUS_OK;
}

static kiln_status end_alone(void *user, kiln_status status) {
  (void)user;
  return status;
}

kiln_status kiln_launcher_open(int64_t deadline_ns, const kiln_communicator **communicator) {
  (void)deadline_ns;
  while (has_fault("start"))
    pause();
  changed.size = 2;
  changed.begin = begin_alone;
  changed.end = end_alone;
  changed.send = send_late;
  *communicator = &changed;
  return has_fault("join") ? KILN_STATUS_PEER_FAILED : KILN_STATUS_OK;
}

void kiln_launcher_close(void) {
  puts("closed");
  while (has_fault("finish"))
    pause();
}

void kiln_launcher_abort(int status) {
  puts("aborted");
  exit(status);
}
#else
kiln_status inner_open(int64_t deadline_ns, const kiln_communicator **communicator);
static const kiln_communicator *inner;

static kiln_status change_sum(void *user, const kiln_ranks *group, void *data, int64_t count, int32_t type, int32_t reduction) {
  kiln_status status = inner->all_reduce(user, group, data, count, type, reduction);
  if (count)
    ((char *)data)[0] ^= 1;
  return status;
}

static kiln_status change_fingerprint(void *user, const uint8_t fingerprint[16]) {
  static int begun;
  uint8_t other[16];
  memcpy(other, fingerprint, 16);
  other[0] ^= has_fault(begun ? "library" : "version");
  begun = 1;
  return inner->begin(user, other);
}

kiln_status kiln_launcher_open(int64_t deadline_ns, const kiln_communicator **communicator) {
  kiln_status status = inner_open(deadline_ns, &inner);
  if (status)
    return status;
  changed = *inner;
  if (inner->rank == 1 && has_fault("output"))
    changed.all_reduce = change_sum;
  if (inner->rank == 1)
    changed.begin = change_fingerprint;
  *communicator = &changed;
  return KILN_STATUS_OK;
}
#endif
