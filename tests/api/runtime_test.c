/* A program that is linked with libtunec_runtime.so alone, loads bundles and runs them.
 *
 *     test_runtime_only CASE BUNDLE OTHER
 *
 * BUNDLE is of tiny.graph. OTHER is for a processor with features that this machine lacks. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static tunec_executable* load(const char* path, const tunec_load_options* options) {
  tunec_executable* model = NULL;
  CHECK(tunec_load(path, options, &model) == TUNEC_OK);
  if (model == NULL) exit(1);
  return model;
}

enum { kMost = 4 };

/* The memory for the tensors of a small model. */
static int64_t memory[2 * kMost][64];
static DLTensor tensors[2 * kMost];

static DLTensor* describe(int at, DLDataType type, int dimensions, const int64_t* shape,
                          size_t bytes) {
  CHECK(bytes <= sizeof memory[at]);
  memset(&tensors[at], 0, sizeof tensors[at]);
  memset(memory[at], 1, sizeof memory[at]);
  tensors[at].data = memory[at];
  tensors[at].device.device_type = kDLCPU;
  tensors[at].ndim = dimensions;
  tensors[at].dtype = type;
  tensors[at].shape = (int64_t*)shape;
  return &tensors[at];
}

/* Runs and profiles the model of y = relu(a + b) and n = k - 1. All bytes of a, b and k are 1. */
static void run(tunec_executable* model) {
  DLTensor *inputs[kMost], *outputs[kMost];
  double seconds[16];
  float tiny;
  size_t i;
  CHECK(tunec_num_inputs(model) == 3 && tunec_num_outputs(model) == 2);
  for (i = 0; i < 3; ++i)
    inputs[i] = describe((int)i, tunec_input_type(model, i), tunec_input_ndim(model, i),
                         tunec_input_shape(model, i), tunec_input_bytes(model, i));
  for (i = 0; i < 2; ++i)
    outputs[i] = describe(kMost + (int)i, tunec_output_type(model, i), tunec_output_ndim(model, i),
                          tunec_output_shape(model, i), tunec_output_bytes(model, i));
  CHECK(tunec_run(model, inputs, outputs) == TUNEC_OK);
  memcpy(&tiny, memory[0], sizeof tiny);
  CHECK(((float*)memory[kMost])[5] == tiny + tiny);
  CHECK(memory[kMost + 1][3] == memory[2][3] - 1);
  CHECK(tunec_num_steps(model) <= 16);
  CHECK(tunec_profile(model, inputs, outputs, seconds) == TUNEC_OK);
}

static void loads(const char* bundle, const char* other) {
  tunec_load_options options;
  tunec_executable* model = load(bundle, NULL);
  (void)other;
  run(model);
  CHECK(strstr(tunec_report_json(model), "\"kernels\":") != NULL);
  tunec_release(model);
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.threads = 1;
  options.share_threads = 1;
  model = load(bundle, &options);
  run(model);
  tunec_release(model);
}

static void rejects(const char* bundle, const char* other) {
  tunec_load_options options;
  tunec_executable* model = (tunec_executable*)&options;
  CHECK(tunec_load(other, NULL, &model) == TUNEC_DEVICE_ERROR);
  CHECK(model == NULL);
  CHECK(strstr(tunec_error_message(), "the processor has no ") != NULL);
  CHECK(tunec_load("no/such/file.tnc", NULL, &model) == TUNEC_NOT_FOUND);
  CHECK(tunec_load(NULL, NULL, &model) == TUNEC_INVALID_ARGUMENT);
  CHECK(tunec_load(bundle, NULL, NULL) == TUNEC_INVALID_ARGUMENT);
  memset(&options, 0, sizeof options);
  CHECK(tunec_load(bundle, &options, &model) == TUNEC_INVALID_ARGUMENT);
  options.size = sizeof options;
  options.threads = SIZE_MAX;
  CHECK(tunec_load(bundle, &options, &model) == TUNEC_INVALID_ARGUMENT);
}

/* Copies a file as cp does: an existing file at `to` is overwritten in place. */
static void copy(const char* from, const char* to) {
  static char bytes[1 << 16];
  FILE* source = fopen(from, "rb");
  FILE* target = fopen(to, "wb");
  size_t count;
  CHECK(source != NULL && target != NULL);
  if (source == NULL || target == NULL) return;
  while ((count = fread(bytes, 1, sizeof bytes, source)) > 0)
    CHECK(fwrite(bytes, 1, count, target) == count);
  CHECK(fclose(source) == 0 && fclose(target) == 0);
}

static void reject_changed(tunec_executable* model) {
  CHECK(tunec_run(model, NULL, NULL) == TUNEC_IO_ERROR);
  CHECK(strstr(tunec_error_message(), "was changed while it was in use; load it again") != NULL);
  CHECK(tunec_profile(model, NULL, NULL, (double[64]){0}) == TUNEC_IO_ERROR);
  tunec_release(model);
}

/* A bundle may be replaced or removed while it is loaded, but not modified. */
static void changed(const char* bundle, const char* other) {
  char path[4096], newer[4096];
  tunec_executable* model;
  const struct timespec tick = {0, 20000000}; /* longer than the resolution of file times */
  (void)other;
  snprintf(path, sizeof path, "%s.loaded", bundle);
  snprintf(newer, sizeof newer, "%s.newer", bundle);
  copy(bundle, path);
  nanosleep(&tick, NULL);
  model = load(path, NULL);
  run(model);
  copy(bundle, path);
  reject_changed(model);
  model = load(path, NULL);
  CHECK(truncate(path, 4096) == 0);
  reject_changed(model);
  copy(bundle, path);
  model = load(path, NULL);
  copy(bundle, newer);
  CHECK(rename(newer, path) == 0);
  run(model);
  CHECK(remove(path) == 0);
  run(model);
  tunec_release(model);
}

int main(int count, char** words) {
  CHECK(count == 4);
  if (strcmp(words[1], "loads") == 0) loads(words[2], words[3]);
  if (strcmp(words[1], "refuses") == 0) rejects(words[2], words[3]);
  if (strcmp(words[1], "changed") == 0) changed(words[2], words[3]);
  return failures > 0;
}
