/* A macro with which C tests report failures. */
#pragma once

#include <stdio.h>
#include <tunec/tunec.h>

static int failures = 0;

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      fprintf(stderr, "%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__, #condition, \
              tunec_error_message());                                                         \
      ++failures;                                                                             \
    }                                                                                         \
  } while (0)
