/* A macro with which C tests report failures, and a function that runs one case of a test program.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <string.h>
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

struct test_case {
  const char* name;
  void (*run)(void);
};

/* Runs the case with the name. Returns the program's exit status: 0, 1 after a failed check, 2 for
 * an unknown name. */
static inline int run_case(const struct test_case* cases, size_t count, const char* name) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(cases[i].name, name) != 0) continue;
    cases[i].run();
    return failures == 0 ? 0 : 1;
  }
  return 2;
}
