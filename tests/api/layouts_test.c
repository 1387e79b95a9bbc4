/* Tests of layouts of inputs and outputs: test_api_layouts CASE. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tunec/tunec.h>
#include <unistd.h>

#include "check.h"
#include "models.h"

/* Computes y = x * w: channel c of every position is multiplied by w[c]. */
static const char kGraph[] =
    "graph g {\n  input x: f32[2, 3, 4]\n  weight w: f32[3, 1]\n  y = mul(x, w)\n  output y = "
    "y\n}\n";
enum { kCount = 24 };
static float w[3] = {1, 10, 100};
static int64_t shape[3] = {2, 3, 4}, last[3] = {12, 1, 3}, row_major[3] = {12, 4, 1};

static DLTensor tensor(float* data, int64_t* strides) {
  DLTensor made = {data, {kDLCPU, 0}, 3, {kDLFloat, 32, 1}, shape, strides, 0};
  return made;
}

static int compile(const char* options, tunec_executable** model) {
  static const char* const names[1] = {"w"};
  static int64_t sizes[2] = {3, 1};
  const DLTensor weight = {w, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, sizes, NULL, 0};
  const DLTensor* const weights[1] = {&weight};
  return tunec_compile_graph(kGraph, sizeof kGraph - 1, 1, names, weights, options, NULL, model);
}

static int64_t at(const int64_t* strides, int64_t n, int64_t c, int64_t i) {
  return n * strides[0] + c * strides[1] + i * strides[2];
}

/* Runs the model on an input and an output with these strides and checks every result. */
static void run(tunec_executable* model, int64_t* from, int64_t* to) {
  float x[kCount], y[kCount];
  for (int i = 0; i < kCount; ++i) x[i] = (float)i - 7;
  DLTensor input = tensor(x, from), output = tensor(y, to);
  DLTensor *inputs[1] = {&input}, *outputs[1] = {&output};
  CHECK(tunec_run(model, inputs, outputs) == TUNEC_OK);
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t i = 0; i < 4; ++i) CHECK(y[at(to, n, c, i)] == x[at(from, n, c, i)] * w[c]);
}

static void reject(tunec_executable* model, int64_t* from, int64_t* to, const char* part) {
  float x[kCount] = {0}, y[kCount] = {0};
  DLTensor input = tensor(x, from), output = tensor(y, to);
  DLTensor *inputs[1] = {&input}, *outputs[1] = {&output};
  CHECK(tunec_run(model, inputs, outputs) == TUNEC_INVALID_ARGUMENT);
  CHECK(strstr(tunec_error_message(), part) != NULL);
}

static void test_stated(void) {
  tunec_executable* model = NULL;
  CHECK(compile("{\"db\": \"\", \"layouts\": {\"x\": \"channels_last\"}}", &model) == TUNEC_OK);
  const int64_t* order = tunec_input_order(model, 0);
  CHECK(order != NULL && order[0] == 0 && order[1] == 2 && order[2] == 1);
  CHECK(memcmp(tunec_input_shape(model, 0), shape, sizeof shape) == 0);
  CHECK(tunec_output_order(model, 0) == NULL);
  CHECK(tunec_input_order(model, 1) == NULL && tunec_input_order(NULL, 0) == NULL);
  run(model, last, row_major);
  reject(model, row_major, row_major, "'x' has strides that are not dense with axes 0,2,1");
  reject(model, NULL, row_major, "'x' has strides that are not dense with axes 0,2,1");
  reject(model, last, last, "'y' has strides that are not dense row-major");
  tunec_release(model);
}

static void test_again(void) {
  tunec_executable *model = NULL, *other = NULL, *third = NULL;
  CHECK(compile("{\"db\": \"\"}", &model) == TUNEC_OK);
  run(model, row_major, row_major);
  CHECK(tunec_compile_layouts(model, "{\"x\": \"0,2,1\", \"y\": \"channels_last\"}", NULL,
                              &other) == TUNEC_OK);
  CHECK(tunec_compile_layouts(other, NULL, NULL, &third) == TUNEC_OK);
  run(other, last, last);
  run(third, row_major, row_major);
  tunec_release(model);
  run(other, last, last);
  tunec_release(other);
  tunec_release(third);
}

static void test_rejected(void) {
  tunec_executable *model = NULL, *other = (tunec_executable*)&failures;
  CHECK(compile("{\"db\": \"\"}", &model) == TUNEC_OK);
  static const struct {
    const char *layouts, *part;
  } wrong[] = {{"{\"z\": \"0,2,1\"}", "'z', expected the name of an input or output"},
               {"{\"x\": \"0,2,3,1\"}", "the layout of 'x' is '0,2,3,1', expected row_major"},
               {"{\"x\": 3}", "option 'layouts' is"},
               {"[", "the layouts are not valid JSON at byte 2"},
               {"{}, \"seed\": 1", "the layouts are not valid JSON at byte 3"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    CHECK(tunec_compile_layouts(model, wrong[i].layouts, NULL, &other) != TUNEC_OK);
    CHECK(other == NULL && strstr(tunec_error_message(), wrong[i].part) != NULL);
  }
  CHECK(tunec_compile_layouts(NULL, NULL, NULL, &other) == TUNEC_INVALID_ARGUMENT);
  CHECK(tunec_compile_layouts(model, NULL, NULL, NULL) == TUNEC_INVALID_ARGUMENT);
  tunec_release(model);
  static const char text[] = "graph g {\n  input x: f32[2, 3]\n  y = neg(x)\n  output y\n}\n";
  CHECK(tunec_compile_bytes(text, sizeof text - 1, NULL, "{\"db\": \"\"}", NULL, &model) ==
        TUNEC_OK);
  CHECK(tunec_compile_layouts(model, NULL, NULL, &other) == TUNEC_UNSUPPORTED);
  tunec_release(model);
}

/* Writes a new file. A file at `path`, which may be mapped, is removed first. */
static void write_file(const char* path, const void* bytes, size_t count) {
  remove(path);
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

/* Writes the weights of kGraph as a safetensors file, with blanks at the header's end. Returns the
 * number of bytes. */
static size_t tensors_of(char* bytes, int blanks) {
  const int size = sprintf(
      bytes + 8, "{\"w\": {\"dtype\": \"F32\", \"shape\": [3, 1], \"data_offsets\": [0, 12]}}%*s",
      blanks, "");
  memset(bytes, 0, 8);
  bytes[0] = (char)size;
  memcpy(bytes + 8 + size, w, sizeof w);
  return 8 + (size_t)size + sizeof w;
}

/* Expects that tunec_compile_layouts fails once the weights file has changed. Removes the files. */
static void expect_stale(const char* model_path, const char* weights_path, const void* weights,
                         size_t count) {
  tunec_executable *model = NULL, *other = NULL;
  CHECK(tunec_compile(model_path, "{\"db\": \"\"}", &model) == TUNEC_OK);
  CHECK(tunec_compile_layouts(model, NULL, NULL, &other) == TUNEC_OK);
  tunec_release(other);
  write_file(weights_path, weights, count);
  CHECK(tunec_compile_layouts(model, NULL, NULL, &other) == TUNEC_IO_ERROR);
  CHECK(strstr(tunec_error_message(), weights_path) != NULL);
  CHECK(strstr(tunec_error_message(), "has changed since the model was compiled") != NULL);
  tunec_release(model);
  CHECK(remove(model_path) == 0 && remove(weights_path) == 0);
}

static void test_weights_files(void) {
  char folder[] = "/tmp/tunec_layouts_XXXXXX";
  CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
  const float values[8] = {1, 10, 100};
  write_file("m.onnx", kExternalOnnx, sizeof kExternalOnnx);
  write_file("f", values, sizeof values / 2);
  expect_stale("m.onnx", "f", values, sizeof values);
  char tensors[256];
  write_file("m.graph", kGraph, sizeof kGraph - 1);
  write_file("m.safetensors", tensors, tensors_of(tensors, 1));
  const size_t count = tensors_of(tensors, 2);
  expect_stale("m.graph", "m.safetensors", tensors, count);
  CHECK(chdir("/") == 0 && rmdir(folder) == 0);
}

static const struct test_case cases[] = {{"stated", test_stated},
                                         {"again", test_again},
                                         {"refused", test_rejected},
                                         {"weights_files", test_weights_files}};

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return run_case(cases, sizeof cases / sizeof cases[0], argv[1]);
}
