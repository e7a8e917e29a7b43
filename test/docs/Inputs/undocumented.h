/* A header with a function that nobody has documented. */
#ifndef UNDOCUMENTED_H
#define UNDOCUMENTED_H

/* What it does. */
int with_comment(int value);

int without_comment(int value);

#endif
