/* What emitted code needs of <stddef.h>, for compiles inside Kiln. */
#ifndef KILN_BUILTIN_STDDEF_H
#define KILN_BUILTIN_STDDEF_H
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#define NULL __null
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
