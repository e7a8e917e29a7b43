// Mathematical functions for emitted kernels: float, double and vectors of them, from one polynomial each, so a
// vector's lanes have the bits of the scalar function under the same compiler flags. Freestanding, no errno,
// no floating-point traps. docs/Runtime.md has the error bounds. Never build with -ffast-math.
#ifndef KILN_MATH_H
#define KILN_MATH_H

#include "kiln/math/erf.h"
#include "kiln/math/exp.h"
#include "kiln/math/hyperbolic.h"
#include "kiln/math/inverse_trig.h"
#include "kiln/math/log.h"
#include "kiln/math/pow.h"
#include "kiln/math/real.h"
#include "kiln/math/round.h"
#include "kiln/math/trig.h"

#endif // KILN_MATH_H
