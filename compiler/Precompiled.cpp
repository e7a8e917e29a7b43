// Gives the precompiled header a translation unit of its own.
#include "compiler/Precompiled.h"
