// What a shared library of a model needs besides its objects: no C library is linked with it.
#include <runner/functions.h>
#include <runner/windows_stack.h>
#include <runner/windows_variables.h>
