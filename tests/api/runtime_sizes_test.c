/* A program that is linked with libtunec_runtime.so alone and runs a bundle of several sizes.
 *
 *     test_runtime_sizes BUNDLE
 *
 * BUNDLE is sizes.graph for batch=1,2 and length=4..10. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { kMost = 4096 };
static float x[kMost], h[kMost], mean[kMost];

static DLTensor describe(float* data, int dimensions, int64_t* shape) {
  const DLDataType type = {kDLFloat, 32, 1};
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = dimensions;
  tensor.dtype = type;
  tensor.shape = shape;
  return tensor;
}

/* Runs the model and checks the shapes, the means, and the first number behind each output. */
static void run(tunec_executable* model, int64_t batch, int64_t length) {
  int64_t of_x[] = {batch, length, 3}, of_mean[2] = {0, 0}, of_h[3] = {0, 0, 0};
  int64_t* shapes[] = {of_mean, of_h};
  DLTensor input = describe(x, 3, of_x), means, hidden;
  DLTensor* inputs[] = {&input};
  DLTensor* outputs[] = {&means, &hidden};
  int64_t b, i, c;
  for (i = 0; i < kMost; ++i) x[i] = i < batch * length * 3 ? (float)(i % 7) : NAN;
  for (i = 0; i < kMost; ++i) h[i] = mean[i] = -77;
  CHECK(tunec_output_shapes(model, (const DLTensor* const*)inputs, shapes) == TUNEC_OK);
  CHECK(of_mean[0] == batch && of_mean[1] == 3);
  CHECK(of_h[0] == batch && of_h[1] == length && of_h[2] == 3);
  means = describe(mean, 2, of_mean);
  hidden = describe(h, 3, of_h);
  CHECK(tunec_run(model, inputs, outputs) == TUNEC_OK);
  for (b = 0; b < batch; ++b) {
    for (c = 0; c < 3; ++c) {
      float sum = 0;
      for (i = 0; i < length; ++i) sum += h[(b * length + i) * 3 + c];
      CHECK(fabsf(sum / (float)length - mean[b * 3 + c]) < 1e-4f);
    }
  }
  CHECK(mean[batch * 3] == -77 && h[batch * length * 3] == -77);
}

static void rejects(tunec_executable* model, int64_t batch, int64_t length) {
  int64_t of_x[] = {batch, length, 3}, of_mean[] = {batch, 3}, of_h[] = {batch, length, 3};
  DLTensor input = describe(x, 3, of_x);
  DLTensor means = describe(mean, 2, of_mean), hidden = describe(h, 3, of_h);
  DLTensor* inputs[] = {&input};
  DLTensor* outputs[] = {&means, &hidden};
  CHECK(tunec_run(model, inputs, outputs) == TUNEC_INVALID_ARGUMENT);
  CHECK(strstr(tunec_error_message(), "length is 11, expected at most 10") != NULL);
}

/* Expects that null data of tensors and a negative number of dimensions are rejected. */
static void rejects_null(tunec_executable* model) {
  int64_t of_x[] = {2, 9, 3}, of_mean[] = {2, 3}, of_h[] = {2, 9, 3};
  int64_t* shapes[] = {of_mean, of_h};
  DLTensor input = describe(NULL, 3, of_x);
  DLTensor means = describe(mean, 2, of_mean), hidden = describe(NULL, 3, of_h);
  DLTensor* inputs[] = {&input};
  DLTensor* outputs[] = {&means, &hidden};
  CHECK(tunec_run(model, inputs, outputs) == TUNEC_INVALID_ARGUMENT);
  CHECK(strstr(tunec_error_message(), "input 'x' is null, expected 216 bytes") != NULL);
  input.data = x;
  CHECK(tunec_run(model, inputs, outputs) == TUNEC_INVALID_ARGUMENT);
  CHECK(strstr(tunec_error_message(), "is null, expected 216 bytes") != NULL);
  input.ndim = -1;
  CHECK(tunec_output_shapes(model, (const DLTensor* const*)inputs, shapes) ==
        TUNEC_INVALID_ARGUMENT);
}

int main(int count, char** arguments) {
  tunec_executable* model = NULL;
  int64_t batch, length;
  if (count != 2) return 2;
  CHECK(tunec_load(arguments[1], NULL, &model) == TUNEC_OK);
  if (model == NULL) return 1;
  CHECK(tunec_input_shape(model, 0)[0] == -1 && tunec_input_shape(model, 0)[1] == -1);
  for (batch = 1; batch <= 5; ++batch)
    for (length = 1; length <= 10; ++length) run(model, batch, length);
  rejects(model, 2, 11);
  rejects_null(model);
  CHECK(strstr(tunec_report_json(model), "\"executables\":") != NULL);
  tunec_release(model);
  return failures > 0;
}
