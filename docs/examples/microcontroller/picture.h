/* The first of the held-out digits: docs/examples/digits/held_out.pgm. */
static const int shown = 2;
static const float picture[64] = {
    0, 4, 16, 15, 2, 0, 0, 0,
    0, 11, 15, 15, 7, 0, 0, 0,
    0, 9, 10, 6, 14, 0, 0, 0,
    0, 0, 0, 7, 15, 0, 0, 0,
    0, 0, 0, 13, 10, 0, 0, 0,
    0, 0, 1, 16, 7, 2, 2, 0,
    0, 1, 12, 16, 15, 16, 15, 0,
    0, 4, 16, 16, 16, 12, 11, 0,
};
