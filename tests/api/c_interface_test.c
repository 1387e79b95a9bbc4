/* Tests of the C interface in C: test_api CASE FOLDER runs one case on the models in FOLDER. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tunec/tunec.h>
#include <unistd.h>

#include "check.h"
#include "models.h"

static char tiny[4096], product[4096], gather[4096];

static int message_has(const char* part) { return strstr(tunec_error_message(), part) != NULL; }

static const char* const no_database = "{\"threads\": 2, \"db\": \"\"}";

static tunec_executable* compile(const char* path) {
  tunec_executable* model = NULL;
  CHECK(tunec_compile(path, no_database, &model) == TUNEC_OK);
  if (model == NULL) exit(1);
  return model;
}

static DLTensor tensor(void* data, uint8_t code, uint8_t bits, int32_t ndim, int64_t* shape) {
  DLTensor result;
  memset(&result, 0, sizeof result);
  result.data = data;
  result.device.device_type = kDLCPU;
  result.dtype.code = code;
  result.dtype.bits = bits;
  result.dtype.lanes = 1;
  result.ndim = ndim;
  result.shape = shape;
  return result;
}

/* The tensors of one run of tiny.graph. */
struct tiny_run {
  float a[8], b[3], y[6];
  int64_t k[4], n[4];
  int64_t shape_a[2], shape_b[1], shape_k[1], strides_a[2];
  DLTensor tensors[5];
  DLTensor *inputs[3], *outputs[2];
};

static void fill(struct tiny_run* run, float scale) {
  for (int i = 0; i < 6; ++i) run->a[i] = scale * (float)(i - 3);
  for (int i = 0; i < 3; ++i) run->b[i] = (float)i;
  for (int i = 0; i < 4; ++i) run->k[i] = 10 * i;
  memset(run->y, 0x7f, sizeof run->y);
  run->shape_a[0] = 2, run->shape_a[1] = 3, run->shape_b[0] = 3, run->shape_k[0] = 4;
  run->tensors[0] = tensor(run->a, kDLFloat, 32, 2, run->shape_a);
  run->tensors[1] = tensor(run->b, kDLFloat, 32, 1, run->shape_b);
  run->tensors[2] = tensor(run->k, kDLInt, 64, 1, run->shape_k);
  run->tensors[3] = tensor(run->y, kDLFloat, 32, 2, run->shape_a);
  run->tensors[4] = tensor(run->n, kDLInt, 64, 1, run->shape_k);
  for (int i = 0; i < 3; ++i) run->inputs[i] = &run->tensors[i];
  for (int i = 0; i < 2; ++i) run->outputs[i] = &run->tensors[3 + i];
}

static int is_right(const struct tiny_run* run, const float* a) {
  for (int i = 0; i < 6; ++i) {
    const float sum = a[i] + run->b[i % 3];
    if (run->y[i] != (sum > 0 ? sum : 0)) return 0;
  }
  for (int i = 0; i < 4; ++i) {
    if (run->n[i] != run->k[i] - 1) return 0;
  }
  return 1;
}

static void test_interface(void) {
  CHECK(strcmp(tunec_error_message(), "") == 0);
  CHECK(strchr(tunec_version(), '.') != NULL);
  CHECK(tunec_num_processors() >= 1);
  tunec_executable* model = compile(tiny);
  CHECK(tunec_num_inputs(model) == 3 && tunec_num_outputs(model) == 2);
  CHECK(strcmp(tunec_input_name(model, 0), "a") == 0);
  CHECK(strcmp(tunec_input_name(model, 2), "k") == 0);
  CHECK(strcmp(tunec_output_name(model, 1), "n") == 0);
  CHECK(tunec_input_ndim(model, 0) == 2 && tunec_output_ndim(model, 1) == 1);
  CHECK(tunec_input_shape(model, 0)[0] == 2 && tunec_input_shape(model, 0)[1] == 3);
  CHECK(tunec_input_type(model, 0).code == kDLFloat && tunec_input_type(model, 0).bits == 32);
  CHECK(tunec_output_type(model, 1).code == kDLInt && tunec_output_type(model, 1).bits == 64);
  CHECK(tunec_output_shape(model, 0)[1] == 3);
  CHECK(tunec_input_bytes(model, 0) == 24 && tunec_output_bytes(model, 1) == 32);
  CHECK(tunec_input_index(model, "k") == 2 && tunec_output_index(model, "n") == 1);
  CHECK(tunec_input_index(model, "n") == -1 && tunec_output_index(model, NULL) == -1);
  /* An index out of range and a null executable give 0, -1 or null. */
  CHECK(tunec_input_bytes(model, 3) == 0 && tunec_input_index(NULL, "k") == -1);
  CHECK(tunec_input_name(model, 3) == NULL && tunec_output_shape(model, 2) == NULL);
  CHECK(tunec_input_ndim(model, 9) == -1 && tunec_output_type(model, 9).bits == 0);
  CHECK(tunec_num_inputs(NULL) == 0 && tunec_output_name(NULL, 0) == NULL);
  tunec_release(model);
  tunec_release(NULL);
}

static void reject(const char* path, const char* options, int status, const char* part) {
  tunec_executable* model = (tunec_executable*)&failures;
  const int got = tunec_compile(path, options, &model);
  if (got != status || model != NULL || !message_has(part)) {
    fprintf(stderr, "options %s: status %d, message '%s'; expected %d, '%s'\n",
            options == NULL ? "null" : options, got, tunec_error_message(), status, part);
    ++failures;
  }
}

static const char rows_text[] =
    "graph g {\n  input x: f32[rows]\n  y = neg(x)\n  output y = y\n}\n";

static void reject_unknown_dimensions(void) {
  tunec_executable* model = NULL;
  CHECK(tunec_compile_bytes(rows_text, sizeof rows_text - 1, "graph",
                            "{\"db\": null, \"dims\": {\"row\": [4, 8]}}", NULL,
                            &model) == TUNEC_INVALID_ARGUMENT);
  CHECK(message_has("row") && model == NULL);
}

/* A dimension without a size is dynamic. */
static void test_dynamic_without_options(void) {
  tunec_executable* model = NULL;
  CHECK(tunec_compile_bytes(rows_text, sizeof rows_text - 1, "graph", no_database, NULL, &model) ==
        TUNEC_OK);
  float x[3] = {1, 2, 3}, y[3];
  int64_t shape[1];
  DLTensor from = tensor(x, kDLFloat, 32, 1, shape), to = tensor(y, kDLFloat, 32, 1, shape);
  DLTensor *inputs[1] = {&from}, *outputs[1] = {&to};
  for (shape[0] = 1; shape[0] <= 3; ++shape[0]) {
    CHECK(tunec_run(model, inputs, outputs) == TUNEC_OK);
    CHECK(y[shape[0] - 1] == -x[shape[0] - 1]);
  }
  tunec_release(model);
}

static void test_errors(void) {
  tunec_executable* model = NULL;
  reject("/nowhere/model.onnx", NULL, TUNEC_NOT_FOUND, "/nowhere/model.onnx");
  reject(tiny, "{\"trails\": 3}", TUNEC_INVALID_ARGUMENT, "unknown option 'trails'");
  reject(tiny, "{\"threads\": -1}", TUNEC_INVALID_ARGUMENT, "'threads' is -1");
  reject(tiny, "{\"threads\": \"2\"}", TUNEC_INVALID_ARGUMENT, "'threads' is \"2\"");
  reject(tiny, "{\"trials\": 1.5}", TUNEC_INVALID_ARGUMENT, "'trials' is 1.5");
  reject(tiny, "{\"time_limit\": \"soon\"}", TUNEC_INVALID_ARGUMENT, "'time_limit' is \"soon\"");
  reject(tiny, "{\"retune\": [\"all\"]}", TUNEC_INVALID_ARGUMENT, "trials or a time limit");
  reject(tiny, "{\"target\": \"tpu\"}", TUNEC_INVALID_ARGUMENT, "expected cpu");
  reject(tiny, "{\"accuracy\": \"f33\"}", TUNEC_INVALID_ARGUMENT, "f33");
  reject(tiny, "{\"cpu\": \"pdp11\"}", TUNEC_INVALID_ARGUMENT, "pdp11");
  reject(tiny, "{\"shapes\": {\"a\": 3}}", TUNEC_INVALID_ARGUMENT, "'shapes'");
  reject(tiny, "{\"dims\": {\"n\": -1}}", TUNEC_INVALID_ARGUMENT,
         "expected {\"NAME\": N or [N, ...] or \"N..M\" or \"N..M:STEP\" or \"OTHER NAME\", ...}");
  reject(tiny, "{", TUNEC_PARSE_ERROR, "not valid JSON at byte 2");
  reject(tiny, "{\"trials\": 3, \"seed\" 4}", TUNEC_PARSE_ERROR, "not valid JSON at byte 22");
  reject(tiny, "[]", TUNEC_INVALID_ARGUMENT, "array");
  reject(tiny, "{\"db\": \"/proc/version\"}", TUNEC_IO_ERROR, "/proc/version");
  reject(tiny, "{\"rules\": [\"/nowhere.rules\"]}", TUNEC_NOT_FOUND, "/nowhere.rules");
  reject(tiny, "{\"rules\": \"a.rules\"}", TUNEC_INVALID_ARGUMENT, "expected [\"FILE\", ...]");
  reject(tiny, "{\"fast_math\": 1}", TUNEC_INVALID_ARGUMENT, "true or false");
  reject(tiny, "{\"disable_pass\": [\"nonsense\"]}", TUNEC_INVALID_ARGUMENT, "nonsense");
  reject(product, "{\"trials\": 1, \"db\": null, \"worker\": \"/nowhere/tunec-worker\"}",
         TUNEC_NOT_FOUND, "/nowhere/tunec-worker");
  reject(NULL, NULL, TUNEC_INVALID_ARGUMENT, "model_path is null");
  CHECK(tunec_compile(tiny, NULL, NULL) == TUNEC_INVALID_ARGUMENT && message_has("out is null"));
  reject_unknown_dimensions();
  CHECK(tunec_run(NULL, NULL, NULL) == TUNEC_INVALID_ARGUMENT);
  /* Many options together are accepted. */
  CHECK(tunec_compile(tiny,
                      "{\"target\":\"cpu\",\"threads\":1,\"share_threads\":true,\"trials\":0,"
                      "\"accuracy\":\"f32\","
                      "\"cpu\":\"native\",\"db\":null,\"seed\":7,\"shapes\":{},"
                      "\"rules\":[],\"fast_math\":true,\"naive\":true,\"perf_map\":false,"
                      "\"constants\":{},\"dims\":{},\"disable_pass\":[\"fold_constants\"],"
                      "\"failures\":\"\",\"worker\":\"\",\"timing_lock\":false,"
                      "\"random_weights\":1}",
                      &model) == TUNEC_OK);
  tunec_release(model);
}

/* Expects that the run fails with `part` in the message and does not write the output y. */
static void reject_run(tunec_executable* model, struct tiny_run* run, const char* part) {
  float before[6];
  memcpy(before, run->y, sizeof before);
  CHECK(tunec_run(model, run->inputs, run->outputs) == TUNEC_INVALID_ARGUMENT);
  CHECK(message_has(part));
  CHECK(memcmp(before, run->y, sizeof before) == 0);
}

static void test_tensors(void) {
  tunec_executable* model = compile(tiny);
  struct tiny_run run;
  fill(&run, 1);
  CHECK(tunec_run(model, run.inputs, run.outputs) == TUNEC_OK);
  CHECK(is_right(&run, run.a));

  fill(&run, 2); /* dense strides, and data behind an offset */
  memmove(run.a + 2, run.a, 6 * sizeof(float));
  run.strides_a[0] = 3, run.strides_a[1] = 1;
  run.tensors[0].strides = run.strides_a;
  run.tensors[0].byte_offset = 2 * sizeof(float);
  CHECK(tunec_run(model, run.inputs, run.outputs) == TUNEC_OK);
  CHECK(is_right(&run, run.a + 2));

  fill(&run, 1);
  run.strides_a[0] = 1, run.strides_a[1] = 2;
  run.tensors[0].strides = run.strides_a;
  reject_run(model, &run, "strides");
  fill(&run, 1);
  run.shape_a[0] = 3, run.shape_a[1] = 2;
  reject_run(model, &run, "input 'a' has shape [3x2], expected [2x3]");
  fill(&run, 1);
  run.tensors[1].ndim = 0;
  reject_run(model, &run, "input 'b' has 0 dimensions, expected 1 of shape [3]");
  fill(&run, 1);
  run.tensors[2].dtype.bits = 32;
  reject_run(model, &run, "input 'k' has type i32, expected i64");
  fill(&run, 1);
  run.tensors[3].dtype.code = kDLInt;
  reject_run(model, &run, "output 'y' has type i32, expected f32");
  fill(&run, 1);
  run.tensors[0].device.device_type = (DLDeviceType)2;
  reject_run(model, &run, "input 'a' is on GPU 0, expected the CPU (1)");
  fill(&run, 1);
  run.tensors[0].device.device_type = (DLDeviceType)3; /* the host's memory, which GPUs see */
  CHECK(tunec_run(model, run.inputs, run.outputs) == TUNEC_OK);
  fill(&run, 1);
  run.inputs[1] = NULL;
  reject_run(model, &run, "input 'b' is null");
  fill(&run, 1);
  run.tensors[0].byte_offset = 2;
  reject_run(model, &run, "");
  fill(&run, 1);
  CHECK(tunec_run(model, NULL, run.outputs) == TUNEC_INVALID_ARGUMENT);
  tunec_release(model);
}

static void test_run_options(void) {
  tunec_executable* model = compile(tiny);
  struct tiny_run run;
  tunec_run_options options = {sizeof options, NULL, 0};
  fill(&run, 1);
  CHECK(tunec_run_with_options(model, run.inputs, run.outputs, NULL) == TUNEC_OK);
  CHECK(is_right(&run, run.a));
  fill(&run, 2);
  CHECK(tunec_run_with_options(model, run.inputs, run.outputs, &options) == TUNEC_OK);
  CHECK(is_right(&run, run.a));
  options.size = sizeof(size_t); /* a program older than the stream option sets this */
  options.stream = &run;
  CHECK(tunec_run_with_options(model, run.inputs, run.outputs, &options) == TUNEC_OK);
  options.size = sizeof options;
  CHECK(tunec_run_with_options(model, run.inputs, run.outputs, &options) == TUNEC_INVALID_ARGUMENT);
  CHECK(message_has("the model runs on the host: it has no stream of a device"));
  options.stream = NULL;
  options.queued = 1;
  CHECK(tunec_run_with_options(model, run.inputs, run.outputs, &options) == TUNEC_INVALID_ARGUMENT);
  CHECK(message_has("the model runs on the host: it has no stream of a device"));
  options.queued = 0;
  CHECK(tunec_wait(model) == TUNEC_OK); /* the queue is empty */
  CHECK(tunec_wait(NULL) == TUNEC_INVALID_ARGUMENT);
  const size_t wrong[] = {0, 1, sizeof options - 1, 1000000};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    options.size = wrong[i];
    CHECK(tunec_run_with_options(model, run.inputs, run.outputs, &options) ==
          TUNEC_INVALID_ARGUMENT);
    CHECK(message_has("expected sizeof(tunec_run_options)"));
  }
  struct {
    tunec_run_options known;
    void* unknown;
  } later = {{sizeof later, NULL, 0}, NULL};
  CHECK(tunec_run_with_options(model, run.inputs, run.outputs, &later.known) == TUNEC_OK);
  later.unknown = &run;
  CHECK(tunec_run_with_options(model, run.inputs, run.outputs, &later.known) ==
        TUNEC_INVALID_ARGUMENT);
  CHECK(message_has("options have members beyond the 24 bytes that this library knows"));
  CHECK(strcmp(tunec_notes(model), "") == 0 && strcmp(tunec_notes(NULL), "") == 0);
  tunec_release(model);
}

/* The test assumes a machine without fma4 and xop, which bdver4 has. */
static void test_other_cpu(void) {
  tunec_executable* model = NULL;
  CHECK(tunec_compile(tiny, "{\"cpu\": \"bdver4\", \"db\": \"\"}", &model) == TUNEC_OK);
  if (model == NULL) exit(1);
  struct tiny_run run;
  fill(&run, 1);
  CHECK(tunec_run(model, run.inputs, run.outputs) == TUNEC_DEVICE_ERROR);
  CHECK(message_has("this machine cannot run code for cpu bdver4"));
  tunec_release(model);
}

static void count_outside_of_any_size(void) {
  static const char text[] =
      "graph g {\n  constant table: f32[3] = [10, 20, 30]\n  input i: i64[n]\n"
      "  y = gather(table, i)\n  output y = y\n}\n";
  tunec_executable* model = NULL;
  CHECK(tunec_compile_bytes(text, sizeof text - 1, "graph",
                            "{\"db\": null, \"threads\": 2, \"dims\": {\"n\": [2, 4]}}", NULL,
                            &model) == TUNEC_OK);
  int64_t indices[4] = {0, -3, 3, -4}, shape[1];
  float y[4];
  DLTensor from = tensor(indices, kDLInt, 64, 1, shape), to = tensor(y, kDLFloat, 32, 1, shape);
  DLTensor *inputs[1] = {&from}, *outputs[1] = {&to};
  CHECK(tunec_outside_indices(model) == 0);
  for (shape[0] = 2; shape[0] <= 4; ++shape[0]) /* the first two are in range */
    CHECK(tunec_run(model, inputs, outputs) == TUNEC_OK);
  CHECK(y[2] == 30 && y[3] == 10 && tunec_outside_indices(model) == 0 + 1 + 2);
  tunec_release(model);
}

static void test_outside(void) {
  tunec_executable* model = compile(gather);
  int64_t indices[4] = {0, -3, 3, -4}, shape[1] = {4};
  float y[4];
  DLTensor from = tensor(indices, kDLInt, 64, 1, shape), to = tensor(y, kDLFloat, 32, 1, shape);
  DLTensor *inputs[1] = {&from}, *outputs[1] = {&to};
  CHECK(tunec_outside_indices(model) == 0 && tunec_outside_indices(NULL) == 0);
  for (uint64_t run = 1; run <= 2; ++run) {
    CHECK(tunec_run(model, inputs, outputs) == TUNEC_OK);
    CHECK(y[0] == 10 && y[1] == 10 && y[2] == 30 && y[3] == 10);
    CHECK(tunec_outside_indices(model) == 2 * run);
  }
  tunec_release(model);
  count_outside_of_any_size();
  test_dynamic_without_options();
}

static void test_profile(void) {
  tunec_executable* model = compile(tiny);
  const size_t steps = tunec_num_steps(model);
  CHECK(steps > 0 && tunec_step_name(model, 0)[0] != 0);
  CHECK(tunec_step_name(model, steps) == NULL && tunec_num_steps(NULL) == 0);
  double* seconds = malloc((steps + 1) * sizeof *seconds);
  for (size_t i = 0; i <= steps; ++i) seconds[i] = -1;
  struct tiny_run run;
  fill(&run, 1);
  CHECK(tunec_profile(model, run.inputs, run.outputs, seconds) == TUNEC_OK);
  CHECK(is_right(&run, run.a));
  for (size_t i = 0; i < steps; ++i) CHECK(seconds[i] >= 0);
  CHECK(seconds[steps] == -1);
  CHECK(tunec_profile(model, run.inputs, run.outputs, NULL) == TUNEC_INVALID_ARGUMENT);
  CHECK(tunec_profile(model, NULL, run.outputs, seconds) == TUNEC_INVALID_ARGUMENT);
  free(seconds);
  tunec_release(model);
}

static void* run_often(void* model) {
  struct tiny_run run;
  for (int i = 0; i < 500; ++i) {
    fill(&run, (float)i);
    CHECK(tunec_run(model, run.inputs, run.outputs) == TUNEC_OK);
    CHECK(is_right(&run, run.a));
  }
  CHECK(strcmp(tunec_error_message(), "") == 0); /* errors are per thread */
  return NULL;
}

static void test_threads(void) {
  tunec_executable* model = compile(tiny);
  CHECK(tunec_run(model, NULL, NULL) != TUNEC_OK);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) CHECK(pthread_create(&threads[i], NULL, run_often, model) == 0);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  CHECK(strcmp(tunec_error_message(), "") != 0);
  tunec_release(model);
}

struct counts {
  int progress, logged, asked;
  int64_t measured;
};
static void on_progress(void* user, const tunec_progress* progress) {
  struct counts* counts = user;
  ++counts->progress;
  counts->measured = progress->measured;
  CHECK(progress->size == sizeof *progress && progress->tasks == 1 && progress->budget == 4);
}
static int on_cancelled(void* user) {
  ++((struct counts*)user)->asked;
  return 0;
}
static int cancel_at_once(void* user) {
  ++((struct counts*)user)->asked;
  return 1;
}
static void on_log(void* user, const char* line) {
  ++((struct counts*)user)->logged;
  CHECK(strchr(line, '\n') == NULL);
}

static void test_callbacks(void) {
  struct counts counts;
  memset(&counts, 0, sizeof counts);
  tunec_callbacks callbacks = {sizeof callbacks, &counts, on_progress, on_cancelled, on_log};
  tunec_executable* model = NULL;
  const char* options = "{\"trials\": 4, \"threads\": 1, \"db\": \"\"}";
  CHECK(tunec_compile_with_callbacks(product, options, &callbacks, &model) == TUNEC_OK);
  CHECK(counts.progress > 0 && counts.asked > 0 && counts.measured > 0 && counts.measured <= 4);
  tunec_release(model);

  /* A program from before `log` existed passes this size. Memory beyond the size is not read. */
  callbacks.size = offsetof(tunec_callbacks, log);
  callbacks.log = (void (*)(void*, const char*))(uintptr_t)1;
  memset(&counts, 0, sizeof counts);
  CHECK(tunec_compile_with_callbacks(product, options, &callbacks, &model) == TUNEC_OK);
  CHECK(counts.progress > 0 && counts.asked > 0);
  tunec_release(model);
  callbacks.size = sizeof callbacks;
  callbacks.log = on_log;

  callbacks.cancelled = cancel_at_once;
  CHECK(tunec_compile_with_callbacks(product, options, &callbacks, &model) == TUNEC_CANCELLED);
  CHECK(model == NULL);
  /* A newer struct has another function. The struct is accepted while that function is null. */
  struct {
    tunec_callbacks known;
    void (*other)(void);
  } longer = {{sizeof longer, &counts, on_progress, NULL, NULL}, NULL};
  memset(&counts, 0, sizeof counts);
  CHECK(tunec_compile_with_callbacks(product, options, &longer.known, &model) == TUNEC_OK);
  CHECK(counts.progress > 0);
  tunec_release(model);
  longer.other = (void (*)(void))(uintptr_t)1;
  CHECK(tunec_compile_with_callbacks(product, options, &longer.known, &model) ==
        TUNEC_INVALID_ARGUMENT);
  CHECK(message_has("functions beyond the") && model == NULL);

  const size_t wrong[] = {0, 3, sizeof callbacks - 1, sizeof longer + 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    callbacks.size = wrong[i];
    CHECK(tunec_compile_with_callbacks(product, options, &callbacks, &model) ==
          TUNEC_INVALID_ARGUMENT);
  }
}

/* Runs a model of one input and one output of four numbers. */
static void run_four(tunec_executable* model, float* x, float* y) {
  int64_t shape[1] = {4};
  DLTensor from = tensor(x, kDLFloat, 32, 1, shape), to = tensor(y, kDLFloat, 32, 1, shape);
  DLTensor *inputs[1] = {&from}, *outputs[1] = {&to};
  CHECK(tunec_run(model, inputs, outputs) == TUNEC_OK);
}

static void test_bytes(void) {
  static const char* const formats[] = {"onnx", NULL};
  float x[4] = {-2, -1, 0, 3}, y[4];
  tunec_executable* model = NULL;
  for (size_t i = 0; i < 2; ++i) {
    unsigned char* bytes = malloc(sizeof kReluOnnx); /* freed after compiling */
    memcpy(bytes, kReluOnnx, sizeof kReluOnnx);
    CHECK(tunec_compile_bytes(bytes, sizeof kReluOnnx, formats[i], no_database, NULL, &model) ==
          TUNEC_OK);
    memset(bytes, 0, sizeof kReluOnnx);
    free(bytes);
    CHECK(strcmp(tunec_input_name(model, 0), "x") == 0);
    run_four(model, x, y);
    CHECK(y[0] == 0 && y[1] == 0 && y[2] == 0 && y[3] == 3);
    tunec_release(model);
  }
  /* The text without its zero byte is accepted. */
  CHECK(tunec_compile_bytes(kDoubleGraph, sizeof kDoubleGraph - 1, NULL, no_database, NULL,
                            &model) == TUNEC_OK);
  run_four(model, x, y);
  CHECK(y[0] == -4 && y[3] == 6);
  tunec_release(model);
}

static void test_external_data(void) {
  float w[4] = {0}, x[4] = {-2, -1, 0, 3}, y[4];
  char folder[] = "/tmp/tunec_external_XXXXXX", path[64], options[128];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/f", folder);
  snprintf(options, sizeof options, "{\"db\": \"\", \"external_data\": \"%s\"}", folder);
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(w, sizeof w, 1, file) == 1 && fclose(file) == 0);
  tunec_executable* model = NULL;
  CHECK(tunec_compile_bytes(kExternalOnnx, sizeof kExternalOnnx, NULL, options, NULL, &model) ==
        TUNEC_OK);
  run_four(model, x, y);
  CHECK(y[0] == 0 && y[3] == 3);
  tunec_release(model);
  remove(path);
  rmdir(folder);
}

static void reject_bytes(const void* bytes, size_t size, const char* format, const char* options,
                         int status, const char* part) {
  tunec_executable* model = (tunec_executable*)&failures;
  const int got = tunec_compile_bytes(bytes, size, format, options, NULL, &model);
  if (got == status && model == NULL && message_has(part)) return;
  fprintf(stderr, "%d bytes: status %d, message '%s'; expected %d, '%s'\n", (int)size, got,
          tunec_error_message(), status, part);
  ++failures;
}

static void test_wrong_bytes(void) {
  const size_t size = sizeof kReluOnnx, length = sizeof kDoubleGraph - 1;
  reject_bytes(NULL, size, NULL, NULL, TUNEC_INVALID_ARGUMENT, "bytes is null");
  reject_bytes(kReluOnnx, 0, NULL, no_database, TUNEC_PARSE_ERROR, "the model has no bytes");
  reject_bytes(kReluOnnx, size, "tflite", no_database, TUNEC_INVALID_ARGUMENT,
               "the format of the model is 'tflite', expected onnx or graph");
  reject_bytes(kReluOnnx, size, "", "{\"trails\": 1}", TUNEC_INVALID_ARGUMENT, "'trails'");
  reject_bytes(kReluOnnx, size, "graph", no_database, TUNEC_PARSE_ERROR, "<memory>:");
  reject_bytes(kDoubleGraph, length, "onnx", no_database, TUNEC_PARSE_ERROR, "<memory>");
  reject_bytes(kReluOnnx, size, NULL, "{\"db\": \"\", \"random_weights\": 1}",
               TUNEC_INVALID_ARGUMENT, "<memory>: an ONNX model has its own weights");
  reject_bytes(kDoubleGraph, length, NULL, "{\"db\": \"\", \"dims\": {\"n\": 1}}",
               TUNEC_INVALID_ARGUMENT,
               "<memory>: a size is given for the dimension 'n', which the text does not name");
  reject_bytes(kExternalOnnx, sizeof kExternalOnnx, NULL, no_database, TUNEC_UNSUPPORTED,
               "external data 'f' of a model that is not a file");
  reject_bytes(kExternalOnnx, sizeof kExternalOnnx, NULL,
               "{\"db\": \"\", \"external_data\": \"/nowhere\"}", TUNEC_NOT_FOUND, "'/nowhere'");
  reject_bytes(kDoubleGraph, length, NULL, "{\"db\": \"\", \"external_data\": \"/tmp\"}",
               TUNEC_INVALID_ARGUMENT, "<memory>: external data is for ONNX models");
  CHECK(tunec_compile_bytes(kReluOnnx, size, NULL, NULL, NULL, NULL) == TUNEC_INVALID_ARGUMENT);
  /* Each prefix is in memory of exactly its size. */
  for (size_t part = 1; part < size; ++part) {
    unsigned char* bytes = malloc(part);
    memcpy(bytes, kReluOnnx, part);
    reject_bytes(bytes, part, NULL, no_database, TUNEC_PARSE_ERROR, "");
    free(bytes);
  }
  static const char weighted[] =
      "graph g {\n  weight w: f32[4]\n  y = relu(w)\n  output y = y\n}\n";
  reject_bytes(weighted, sizeof weighted - 1, NULL, no_database, TUNEC_NOT_FOUND,
               "weight w has no data, expected random weights");
  tunec_executable* model = NULL;
  CHECK(tunec_compile_bytes(weighted, sizeof weighted - 1, "graph",
                            "{\"db\": \"\", \"random_weights\": 1}", NULL, &model) == TUNEC_OK);
  tunec_release(model);
}

/* Computes y = x * w + b, where the name of b is "bias.0". */
static const char kScaled[] =
    "graph g {\n  input x: f32[4]\n  weight w: f32[4]\n  weight b: f32[] from \"bias.0\"\n"
    "  s = mul(x, w)\n  y = add(s, b)\n  output y = y\n}\n";

static void test_weights(void) {
  float w[5] = {0, 1, 2, 3, 4}, b[1] = {10}, x[4] = {1, 1, 2, 2}, y[4];
  int64_t four[1] = {4}, strides[1] = {1};
  DLTensor tensor_w = tensor(w, kDLFloat, 32, 1, four), tensor_b = tensor(b, kDLFloat, 32, 0, four);
  tensor_w.byte_offset = sizeof(float);
  tensor_w.strides = strides;
  const char* names[] = {"w", "bias.0", "nobody's"};
  const DLTensor* tensors[] = {&tensor_w, &tensor_b, &tensor_b};
  const size_t length = sizeof kScaled - 1;
  tunec_executable* model = NULL;
  CHECK(tunec_compile_graph(kScaled, length, 3, names, tensors, no_database, NULL, &model) ==
        TUNEC_OK);
  tensor_w.data = tensor_b.data = NULL; /* the tensors may be freed, their data stays */
  run_four(model, x, y);
  CHECK(y[0] == 11 && y[1] == 12 && y[2] == 16 && y[3] == 18);
  tunec_release(model);
}

static void reject_weights(size_t count, const char* const* names, const DLTensor* const* tensors,
                           const char* options, int status, const char* part) {
  tunec_executable* model = (tunec_executable*)&failures;
  const int got = tunec_compile_graph(kScaled, sizeof kScaled - 1, count, names, tensors, options,
                                      NULL, &model);
  if (got == status && model == NULL && message_has(part)) return;
  fprintf(stderr, "%d weights: status %d, message '%s'; expected %d, '%s'\n", (int)count, got,
          tunec_error_message(), status, part);
  ++failures;
}

static void test_wrong_weights(void) {
  float w[8] = {0};
  int64_t four[1] = {4}, strides[1] = {2};
  DLTensor right = tensor(w, kDLFloat, 32, 1, four), scalar = tensor(w, kDLFloat, 32, 1, four),
           wrong = tensor(w, kDLFloat, 32, 1, four);
  scalar.ndim = 0;
  const char* names[] = {"w", "bias.0", "w"};
  const DLTensor* tensors[] = {&right, &scalar, &right};
  const DLTensor* given[] = {&wrong, &scalar};
  const int argument = TUNEC_INVALID_ARGUMENT;
  reject_weights(2, NULL, tensors, no_database, argument, "the array of names is null");
  reject_weights(2, names, NULL, no_database, argument, "the array of weights is null");
  reject_weights(3, names, tensors, no_database, argument, "there are two weights 'w'");
  reject_weights(1, names, tensors, no_database, TUNEC_NOT_FOUND,
                 "weight 'bias.0' is not among those given");
  reject_weights(2, names, tensors, "{\"db\": \"\", \"random_weights\": 1}", argument,
                 "weights are given, expected no random weights");
  wrong.strides = strides;
  reject_weights(2, names, given, no_database, argument, "weight 'w' has strides");
  wrong = right;
  wrong.dtype.bits = 64;
  reject_weights(2, names, given, no_database, argument, "weight 'w' has type f64, expected f32");
  wrong = right;
  wrong.byte_offset = 2;
  reject_weights(2, names, given, no_database, argument, "weight 'w' is not aligned");
  wrong = right;
  wrong.data = NULL;
  reject_weights(2, names, given, no_database, argument, "weight 'w' has no data");
  const DLTensor* absent[] = {NULL, &scalar};
  reject_weights(2, names, absent, no_database, argument, "weight 0 is null");
}

static void test_report(void) {
  tunec_executable* model = compile(product);
  const char* report = tunec_report_json(model);
  CHECK(tunec_report_json(NULL) == NULL);
  CHECK(report != NULL && report[0] == '{' && report[strlen(report) - 1] == '}');
  CHECK(strstr(report, "\"threads\":2") != NULL);
  CHECK(strstr(report, "\"accuracy\":\"f32\"") != NULL);
  CHECK(strstr(report, "\"schedule\":\"analytic\"") != NULL);
  CHECK(tunec_report_json(model) == report);
  tunec_release(model);
}

static const struct test_case cases[] = {{"interface", test_interface},
                                         {"errors", test_errors},
                                         {"tensors", test_tensors},
                                         {"profile", test_profile},
                                         {"threads", test_threads},
                                         {"callbacks", test_callbacks},
                                         {"other_cpu", test_other_cpu},
                                         {"outside", test_outside},
                                         {"bytes", test_bytes},
                                         {"wrong_bytes", test_wrong_bytes},
                                         {"weights", test_weights},
                                         {"wrong_weights", test_wrong_weights},
                                         {"report", test_report},
                                         {"run_options", test_run_options},
                                         {"external_data", test_external_data}};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  snprintf(tiny, sizeof tiny, "%s/tiny.graph", argv[2]);
  snprintf(product, sizeof product, "%s/matmul.graph", argv[2]);
  snprintf(gather, sizeof gather, "%s/gather.graph", argv[2]);
  return run_case(cases, sizeof cases / sizeof cases[0], argv[1]);
}
