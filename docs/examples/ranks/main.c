/* Reads handwritten digits with a model whose ranks are processes under MPI.
 * Usage: mpirun -np 2 read_digits FOLDER [WEIGHTS] - FOLDER holds held_out.pgm (8x8 images, one below the other) and held_out.txt (their labels), WEIGHTS the
 * files of the ranks' weights, if they are not where they were built.
 *
 * Every rank has all inputs and gets all outputs, and its own part of the weights; the model's library says what each computes. */
#include "digits.h"

#include <kiln/mpi.h>
#include <kiln/runtime.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10 };

/* MPI_Finalize() would wait for ranks that are gone, so a rank that gives up takes all others along. MPICH's mpirun drops what it has not yet passed on when a
 * rank aborts, so the message gets a tenth of a second. */
static void give_up(const char *what, const char *why) {
  fprintf(stderr, "read_digits: %s: %s\n", what, why);
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static FILE *open_file(const char *folder, const char *name, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, mode);
  if (!file)
    give_up(path, strerror(errno));
  return file;
}

static int classify(const float *image, const kiln_weights *weights, void *workspace, const kiln_context *context) {
  float probabilities[CLASSES];
  digits_inputs inputs = {image};
  digits_outputs outputs = {probabilities};
  kiln_status status = digits_run(&inputs, &outputs, weights->data, workspace, context);
  if (status != KILN_STATUS_OK)
    give_up("the model did not run", kiln_status_string(status));
  int answer = 0;
  for (int i = 1; i < CLASSES; ++i)
    if (probabilities[i] > probabilities[answer])
      answer = i;
  return answer;
}

/* The file of the rank's part of the weights. A model that is cut for another number of ranks has none, or its run says so. */
static kiln_weights map_weights(const char *folder, const kiln_communicator *ranks) {
  if (ranks->size != digits_info.num_ranks)
    give_up("the model is cut for another number of ranks", kiln_status_string(KILN_STATUS_MISSING_COMMUNICATOR));
  const kiln_rank_weights *own = &digits_info.rank_weights[ranks->rank];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, own->file);
  kiln_weights weights;
  kiln_status status = kiln_weights_map(path, (size_t)own->size, own->checksum, &weights);
  if (status != KILN_STATUS_OK)
    give_up(path, kiln_status_string(status));
  return weights;
}

static void read_all(const char *folder, const char *weights_folder, const kiln_context *context) {
  FILE *pictures = open_file(folder, "held_out.pgm", "rb"), *labels = open_file(folder, "held_out.txt", "r");
  const kiln_communicator *ranks = context->communicator;
  kiln_weights weights = map_weights(weights_folder, ranks);
  void *workspace = NULL;
  kiln_status status = kiln_workspace_create(DIGITS_WORKSPACE_SIZE, &workspace);
  if (status != KILN_STATUS_OK)
    give_up("workspace", kiln_status_string(status));
  int width, height, brightest, label, count = 0, right = 0;
  if (fscanf(pictures, "P5 %d %d %d%*c", &width, &height, &brightest) != 3 || width != SIDE || brightest != 16)
    give_up("held_out.pgm", "it has no digits");
  unsigned char pixels[PIXELS];
  float image[PIXELS];
  while (fscanf(labels, "%d", &label) == 1 && fread(pixels, 1, PIXELS, pictures) == PIXELS) {
    for (int i = 0; i < PIXELS; ++i)
      image[i] = pixels[i];
    right += classify(image, &weights, workspace, context) == label;
    ++count;
  }
  /* A full disk shows when the text is written, not when it is printed. */
  printf("rank %d of %d: %d of %d digits are right\n", ranks->rank, ranks->size, right, count);
  if (fflush(stdout) != 0)
    give_up("standard output", strerror(errno));
  kiln_weights_unmap(&weights);
  kiln_workspace_destroy(workspace, DIGITS_WORKSPACE_SIZE);
  fclose(pictures);
  fclose(labels);
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  kiln_communicator *communicator = NULL;
  kiln_status status = kiln_mpi_communicator_create(MPI_COMM_WORLD, 10000000000, &communicator); /* 10 seconds */
  if (status != KILN_STATUS_OK)
    give_up("communicator", kiln_status_string(status));
  kiln_context context = KILN_CONTEXT_INIT;
  context.communicator = communicator;
  read_all(argc > 1 ? argv[1] : ".", argc > 2 ? argv[2] : WEIGHTS_FOLDER, &context);
  kiln_mpi_communicator_destroy(communicator);
  MPI_Finalize();
  return 0;
}
