//===- NNInterfaces.cpp - What passes ask of an operation ------------------===//
#include "dialects/nn/NN.h"

using namespace mlir;

#include "dialects/nn/NNInterfaces.cpp.inc"
