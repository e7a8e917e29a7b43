#include "kiln/runtime.h"

// No default case: the compiler then names a status that lacks its text.
const char *kiln_status_string(kiln_status status) {
  switch (status) {
  case KILN_STATUS_OK:
    return "ok";
  case KILN_STATUS_INVALID_ARGUMENT:
    return "invalid argument";
  case KILN_STATUS_NULL_POINTER:
    return "a required pointer is NULL";
  case KILN_STATUS_DIMENSION_OUT_OF_BOUNDS:
    return "a dimension is outside the bounds the model was compiled for";
  case KILN_STATUS_DIMENSION_MISMATCH:
    return "dimensions do not fit each other";
  case KILN_STATUS_INDEX_OUT_OF_BOUNDS:
    return "an index in the input data is out of bounds";
  case KILN_STATUS_UNALIGNED_WORKSPACE:
    return "the workspace is not aligned to 64 bytes";
  case KILN_STATUS_WORKSPACE_TOO_SMALL:
    return "the workspace is too small";
  case KILN_STATUS_OUT_OF_MEMORY:
    return "out of memory";
  case KILN_STATUS_UNSUPPORTED_CPU:
    return "the CPU lacks instructions that the model was compiled for, or the system refuses the registers for tiles (AMX)";
  case KILN_STATUS_WEIGHTS_MISMATCH:
    return "the weights file does not belong to this model";
  case KILN_STATUS_WEIGHTS_UNREADABLE:
    return "the weights file cannot be read";
  case KILN_STATUS_ABI_MISMATCH:
    return "the caller was built for another version of the Kiln ABI";
  case KILN_STATUS_THREAD_FAILURE:
    return "a thread could not be started";
  case KILN_STATUS_MISSING_ALLOCATOR:
    return "an output's size depends on the data, and the context has no allocate hook";
  case KILN_STATUS_LIBRARY_FAILURE:
    return "a function of an external library has failed";
  case KILN_STATUS_STRING_ROOM_TOO_SMALL:
    return "strings have more bytes or parts than the model was compiled for: compile it with --limit=string-bytes=N or --limit=string-parts=N";
  case KILN_STATUS_STRING_IS_NO_NUMBER:
    return "a string that is cast to a number does not contain one";
  case KILN_STATUS_MISSING_IMAGE_DECODER:
    return "the model decodes pictures, and the context has no decode_image hook: set it to kiln_images_decode of libkiln_images, or to one of your own";
  case KILN_STATUS_IMAGE_UNREADABLE:
    return "a picture is broken, or its format is unknown";
  case KILN_STATUS_IMAGE_TOO_LARGE:
    return "a picture is larger than the model was compiled for";
  case KILN_STATUS_SIZE_OVERFLOW:
    return "the dimensions make a tensor or the workspace larger than 2^62 bytes";
  case KILN_STATUS_MISSING_FUNCTION:
    return "the program lacks a function that computes an operator of the model";
  case KILN_STATUS_SOUND_UNREADABLE:
    return "a file of sound is broken, or its kind is unknown";
  case KILN_STATUS_MISSING_COMMUNICATOR:
    return "the model is sharded, and the context has no communicator of as many ranks";
  case KILN_STATUS_RANKS_MISMATCH:
    return "the ranks differ in their libraries, dimensions or calls";
  case KILN_STATUS_PEER_LATE:
    return "another rank did not come before the deadline";
  case KILN_STATUS_PEER_FAILED:
    return "another rank has failed";
  }
  return "unknown status";
}
