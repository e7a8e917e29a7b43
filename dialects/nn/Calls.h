//===- Calls.h - Operations that only import makes -------------------------===//
#ifndef KILN_DIALECTS_NN_CALLS_H
#define KILN_DIALECTS_NN_CALLS_H

#include "dialects/nn/NN.h"

#define GET_OP_CLASSES
#include "dialects/nn/NNCallOps.h.inc"

#endif // KILN_DIALECTS_NN_CALLS_H
