/* Operations in oneDNN, for models whose target maps to it (kiln --library=onednn). Their kernels call these functions of libkiln_onednn, which
 * hands the buffers to oneDNN as they are.
 *
 * All tensors are f32. `state` belongs to one place in one model: KILN_ONEDNN_STATE_BYTES bytes that are zero at first and stay at their place. In it
 * the library keeps the primitives that it has made for the sizes met so far, and constant weights in the order that oneDNN asks for: their
 * memory, about as much as the weights themselves, comes from malloc at the first call and lives until kiln_onednn_release() or the end of the
 * process. Later calls with the same sizes allocate nothing of that kind, but oneDNN may allocate and lock in any call.
 *
 * A call does the parts [first, last) of `parts` equal ones, on the calling thread alone: callers run parts on threads of their own. oneDNN is built
 * on OpenMP, whose number of threads for the calling thread is 1 for the time of the call and then put back. Any number of threads may call at
 * once, with the same state, too. Work that cannot be cut is done with the first part.
 *
 * Returned is KILN_STATUS_OK, KILN_STATUS_OUT_OF_MEMORY, or KILN_STATUS_LIBRARY_FAILURE when oneDNN refuses the operation or fails. */
#ifndef KILN_ONEDNN_H
#define KILN_ONEDNN_H

#include "kiln/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define KILN_ONEDNN_API __attribute__((visibility("default")))
#else
#define KILN_ONEDNN_API
#endif

/* Bytes of the state of a place in a model. */
#define KILN_ONEDNN_STATE_BYTES 64

/* How an operation is done, and what goes with it. Without KILN_ONEDNN_BIAS the parameter `bias` is not looked at. */
#define KILN_ONEDNN_BIAS 1     /* one number is added for each column or output channel */
#define KILN_ONEDNN_RELU 2     /* negative results become zero; what becomes of a NaN is oneDNN's choice */
#define KILN_ONEDNN_CONSTANT 4 /* the right side has the same numbers in each call: they are kept in the order that oneDNN asks for */
#define KILN_ONEDNN_LOG 8      /* softmax: its logarithm */
#define KILN_ONEDNN_WINOGRAD 16 /* convolution: by Winograd's algorithm, which rounds in another way, where oneDNN has it for the shape */

/* out = lhs * rhs, products of matrices. shape: flags, rank, first element of lhs and of rhs, then `rank - 2` batch dimensions, rows, columns, depth,
 * then the strides of lhs (batch..., row, depth) and of rhs (batch..., depth, column) in elements. A batch stride of 0 repeats rhs. out is dense. */
KILN_ONEDNN_API kiln_status kiln_onednn_matmul(void *state, int64_t first, int64_t last, int64_t parts, const float *lhs, const float *rhs, const float *bias,
                                               float *out, const int64_t *shape);

/* A convolution. shape: flags, 1 when channels are the last dimension and 0 when they are the second, the number of spatial dimensions, batch,
 * groups, channels, filters, then for each spatial dimension, one list after the other: input sizes, output sizes, kernel sizes, strides,
 * dilations, padding before, padding behind. The weight is [filters, channels / groups, kernel...] and constant. */
KILN_ONEDNN_API kiln_status kiln_onednn_conv(void *state, int64_t first, int64_t last, int64_t parts, const float *input, const float *weight,
                                             const float *bias, float *out, const int64_t *shape);

/* Softmax of rows. shape: flags, rows, row length. */
KILN_ONEDNN_API kiln_status kiln_onednn_softmax(void *state, int64_t first, int64_t last, int64_t parts, const float *input, float *out, const int64_t *shape);

/* Layer normalization of rows. shape: flags (KILN_ONEDNN_BIAS), rows, row length. */
KILN_ONEDNN_API kiln_status kiln_onednn_layer_norm(void *state, int64_t first, int64_t last, int64_t parts, const float *input, const float *scale,
                                                   const float *bias, float *out, float epsilon, const int64_t *shape);

/* Frees all that states hold; the next call of each makes it anew. No other function of this file may be running. */
KILN_ONEDNN_API void kiln_onednn_release(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_ONEDNN_H */
