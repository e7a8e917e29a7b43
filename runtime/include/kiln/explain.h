/* Texts for people: what is wrong with the arguments of a run. Every generated header contains this text. The functions are inline and call nothing, so
 * a program that does not ask has none of them. C11 and C++17. */
#ifndef KILN_EXPLAIN_H
#define KILN_EXPLAIN_H

#include "kiln/abi.h"

/* A text that grows in the caller's buffer. What does not fit is left out; the text always ends in a zero if the buffer has room for one. */
typedef struct kiln_text {
  char *buffer;
  size_t size;
  size_t length;
} kiln_text;

/* Adds characters, as many as there is room for. */
static inline void kiln_add_text(kiln_text *text, const char *more) {
  for (; *more && text->length + 1 < text->size; ++more)
    text->buffer[text->length++] = *more;
  if (text->size)
    text->buffer[text->length] = '\0';
}

/* Adds a number in decimal digits. */
static inline void kiln_add_number(kiln_text *text, int64_t number) {
  char digits[24];
  size_t at = sizeof digits;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  digits[--at] = '\0';
  do
    digits[--at] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0)
    digits[--at] = '-';
  kiln_add_text(text, digits + at);
}

/* Writes a text and returns the status. */
static inline kiln_status kiln_explain(char *buffer, size_t size, kiln_status status, const char *words) {
  kiln_text text = {buffer, buffer ? size : 0, 0};
  kiln_add_text(&text, words);
  return status;
}

/* The same for dimensions: "height 33, width 40: DEMAND". */
static inline kiln_status kiln_explain_dims(char *buffer, size_t size, kiln_status status, const char *const *names, const int64_t *values, size_t count,
                                            const char *demand) {
  kiln_text text = {buffer, buffer ? size : 0, 0};
  for (size_t i = 0; i < count; ++i) {
    kiln_add_text(&text, i ? ", " : "");
    kiln_add_text(&text, names[i]);
    kiln_add_text(&text, " ");
    kiln_add_number(&text, values[i]);
  }
  kiln_add_text(&text, ": ");
  kiln_add_text(&text, demand);
  return status;
}

/* The first of these pointers that is NULL: "NAME is NULL". */
static inline kiln_status kiln_explain_pointers(char *buffer, size_t size, const void *const *pointers, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (!pointers[i]) {
      kiln_text text = {buffer, buffer ? size : 0, 0};
      kiln_add_text(&text, names[i]);
      kiln_add_text(&text, " is NULL");
      return KILN_STATUS_NULL_POINTER;
    }
  return kiln_explain(buffer, size, KILN_STATUS_OK, "");
}

/* A workspace of `have` bytes for a run that needs `need`. */
static inline kiln_status kiln_explain_workspace(char *buffer, size_t size, const void *workspace, size_t have, size_t need) {
  kiln_text text = {buffer, buffer ? size : 0, 0};
  if (need && !workspace)
    return kiln_explain(buffer, size, KILN_STATUS_NULL_POINTER, "workspace is NULL");
  if (have < need) {
    kiln_add_text(&text, "workspace has ");
    kiln_add_number(&text, (int64_t)have);
    kiln_add_text(&text, " bytes, the run needs ");
    kiln_add_number(&text, (int64_t)need);
    return KILN_STATUS_WORKSPACE_TOO_SMALL;
  }
  if (need && (uintptr_t)workspace % KILN_ALIGNMENT != 0) {
    kiln_add_text(&text, "workspace is not aligned to ");
    kiln_add_number(&text, KILN_ALIGNMENT);
    kiln_add_text(&text, " bytes: the remainder is ");
    kiln_add_number(&text, (int64_t)((uintptr_t)workspace % KILN_ALIGNMENT));
    return KILN_STATUS_UNALIGNED_WORKSPACE;
  }
  return kiln_explain(buffer, size, KILN_STATUS_OK, "");
}

/* Division that rounds down, and up, also of negative numbers. A divisor below 1 counts as 1, as in a run. */
static inline int64_t kiln_floor_div(int64_t number, int64_t by) {
  if (by < 1)
    by = 1;
  return number / by - (number % by < 0);
}
static inline int64_t kiln_ceil_div(int64_t number, int64_t by) {
  if (by < 1)
    by = 1;
  return number / by + (number % by > 0);
}
static inline int64_t kiln_floor_mod(int64_t number, int64_t by) { return by < 1 ? 0 : number - kiln_floor_div(number, by) * by; }
static inline int64_t kiln_ceil_to(int64_t number, int64_t by) { return kiln_ceil_div(number, by) * by; }
static inline int64_t kiln_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t kiln_min(int64_t a, int64_t b) { return a < b ? a : b; }

#endif /* KILN_EXPLAIN_H */
