/* Wrong and unusual calls: test_api_hostile CASE FOLDER runs one case on the models in FOLDER.
 * Wrong calls are rejected. Nothing is read or written beyond the given memory. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tunec/tunec.h>
#include <unistd.h>

#include "check.h"

static char product[4096];

static const char* const kNoDatabase = "{\"db\": \"\", \"threads\": 2}";
enum { kM = 24, kK = 40, kN = 56 };

static tunec_executable* compile(void) {
  tunec_executable* model = NULL;
  CHECK(tunec_compile(product, kNoDatabase, &model) == TUNEC_OK);
  if (model == NULL) exit(1);
  return model;
}

static void reject(const char* path, const char* options) {
  tunec_executable* model = (tunec_executable*)&failures;
  const int status = tunec_compile(path, options, &model);
  if (status != TUNEC_OK && model == NULL && tunec_error_message()[0] != '\0') return;
  fprintf(stderr, "%.60s, %.60s: status %d, message '%s'\n", path == NULL ? "null" : path,
          options == NULL ? "null" : options, status, tunec_error_message());
  ++failures;
}

static void test_paths(void) {
  reject(NULL, NULL);
  reject("", kNoDatabase);
  reject("/nowhere.graph", kNoDatabase);
  reject("/tmp", kNoDatabase);
  CHECK(tunec_compile(NULL, NULL, NULL) == TUNEC_INVALID_ARGUMENT);
  char* path = malloc(1 << 20);
  memset(path, 'a', (1 << 20) - 1);
  path[(1 << 20) - 1] = '\0';
  reject(path, kNoDatabase);
  free(path);
}

static void test_options(void) {
  static const char* const wrong[] = {"{",
                                      "[]",
                                      "null",
                                      "1",
                                      "\"x\"",
                                      "{\"db\":\"\"}x",
                                      "{\"db\":\"\",\"nosuch\":1}",
                                      "{\"db\":\"\",\"threads\":-1}",
                                      "{\"db\":\"\",\"threads\":1.5}",
                                      "{\"db\":\"\",\"threads\":1e99}",
                                      "{\"db\":\"\",\"threads\":100000}",
                                      "{\"db\":\"\",\"threads\":null}",
                                      "{\"db\":\"\",\"trials\":-1}",
                                      "{\"db\":\"\",\"trials\":99999999999999999999}",
                                      "{\"db\":1}",
                                      "{\"db\":\"\",\"accuracy\":0}",
                                      "{\"db\":\"\",\"accuracy\":-1e-3}",
                                      "{\"db\":\"\",\"cpu\":\"\"}",
                                      "{\"db\":\"\",\"rules\":[1]}",
                                      "{\"db\":\"\",\"shapes\":[1]}",
                                      "{\"db\":\"\",\"constants\":{\"x\":\"/nosuch\"}}",
                                      "{\"db\":\"\",\"seed\":1.5}",
                                      "{\"db\":\"\",\"random_weights\":-1}",
                                      "{\"db\":\"a\\u0000b\"}",
                                      "{\"db\":\"\xff\xfe\"}",
                                      "{\"d\xff\":1}",
                                      "{\"db\":\"\",\"nosuch\\u0000\":1}",
                                      "{\"db\":\"/proc/x.db\",\"trials\":1}"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) reject(product, wrong[i]);
}

/* Expects that a million brackets, a million objects in each other and a key of a megabyte are
 * rejected. */
static void test_large_options(void) {
  const size_t size = 1 << 20;
  char* text = malloc(8 * size + 64);
  memset(text, '[', size);
  text[size] = '\0';
  reject(product, text);
  char* end = text;
  for (size_t i = 0; i < size; ++i) end = stpcpy(end, "{\"a\":");
  reject(product, text);
  end = stpcpy(text, "{\"db\":\"\",\"k");
  memset(end, 'a', size);
  stpcpy(end + size, "\":1}");
  reject(product, text);
  free(text);
}

/* The tensors of one run of matmul.graph. Each shape ends at the end of a page, and the next
 * page cannot be read. */
struct run {
  float a[kM * kK], b[kK * kN], y[kM * kN];
  DLTensor tensors[3];
  DLTensor *inputs[2], *outputs[1];
  int64_t* shapes[3];
};

static int64_t* guarded(int64_t first, int64_t second) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) exit(1);
  int64_t* shape = (int64_t*)(void*)(pages + page) - 2;
  shape[0] = first, shape[1] = second;
  return shape;
}

static void set_tensor(DLTensor* tensor, float* data, int64_t* shape) {
  memset(tensor, 0, sizeof *tensor);
  tensor->data = data;
  tensor->device.device_type = kDLCPU;
  tensor->dtype.code = kDLFloat;
  tensor->dtype.bits = 32;
  tensor->dtype.lanes = 1;
  tensor->ndim = 2;
  tensor->shape = shape;
}

static struct run* new_run(void) {
  struct run* run = calloc(1, sizeof *run);
  for (int i = 0; i < kM * kK; ++i) run->a[i] = (float)(i % 17 - 8);
  for (int i = 0; i < kK * kN; ++i) run->b[i] = (float)(i % 23 - 11);
  run->shapes[0] = guarded(kM, kK), run->shapes[1] = guarded(kK, kN),
  run->shapes[2] = guarded(kM, kN);
  set_tensor(&run->tensors[0], run->a, run->shapes[0]);
  set_tensor(&run->tensors[1], run->b, run->shapes[1]);
  set_tensor(&run->tensors[2], run->y, run->shapes[2]);
  for (int i = 0; i < 2; ++i) run->inputs[i] = &run->tensors[i];
  run->outputs[0] = &run->tensors[2];
  return run;
}

static int is_right(const struct run* run) {
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0; /* exact: whole numbers below 2^24 */
      for (int k = 0; k < kK; ++k) sum += run->a[i * kK + k] * run->b[k * kN + j];
      if (run->y[i * kN + j] != (sum > 0 ? sum : 0)) return 0;
    }
  return 1;
}

static void reject_run(tunec_executable* model, struct run* run, int line) {
  memset(run->y, 0x7f, sizeof run->y);
  const float before = run->y[0];
  const int status = tunec_run(model, run->inputs, run->outputs);
  if (status != TUNEC_OK && memcmp(&run->y[0], &before, sizeof before) == 0) return;
  fprintf(stderr, "%s:%d: status %d, output %s\n", __FILE__, line, status,
          run->y[0] == before ? "untouched" : "written");
  ++failures;
}
#define REJECT_RUN(change)            \
  do {                                \
    struct run* run = new_run();      \
    change;                           \
    reject_run(model, run, __LINE__); \
    free(run);                        \
  } while (0)

static void test_tensors(void) {
  tunec_executable* model = compile();
  static int64_t transposed[2] = {1, kM}, zeros[2] = {0, 0};
  static const int32_t dimensions[] = {-1, 0, 1, 3, 1000000, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; ++i) {
    REJECT_RUN(run->tensors[0].ndim = dimensions[i]);
    REJECT_RUN(run->tensors[2].ndim = dimensions[i]);
  }
  REJECT_RUN(run->tensors[0].shape = NULL);
  REJECT_RUN(run->tensors[0].data = NULL);
  REJECT_RUN(run->inputs[1] = NULL);
  REJECT_RUN(run->shapes[0][0] = -kM);
  REJECT_RUN(run->shapes[0][1] = INT64_MAX);
  REJECT_RUN(run->tensors[0].strides = transposed);
  REJECT_RUN(run->tensors[0].strides = zeros);
  REJECT_RUN(run->tensors[0].dtype.bits = 64);
  REJECT_RUN(run->tensors[0].dtype.lanes = 4);
  REJECT_RUN(run->tensors[0].dtype.code = 99);
  REJECT_RUN(run->tensors[0].device.device_type = (DLDeviceType)2);
  REJECT_RUN(run->tensors[0].byte_offset = 2);
  REJECT_RUN(run->tensors[0].byte_offset = UINT64_MAX);
  REJECT_RUN(run->tensors[0].data = (char*)run->a + 1);
  struct run* run = new_run();
  DLTensor* none[1] = {NULL};
  CHECK(tunec_run(model, run->inputs, none) != TUNEC_OK);
  CHECK(tunec_run(model, run->inputs, NULL) != TUNEC_OK);
  CHECK(tunec_run(model, NULL, run->outputs) != TUNEC_OK);
  CHECK(tunec_run(NULL, run->inputs, run->outputs) != TUNEC_OK);
  CHECK(tunec_run(model, run->inputs, run->outputs) == TUNEC_OK && is_right(run));
  free(run);
  tunec_release(model);
}

/* Expects that tunec_output_shapes rejects the arguments with a message. */
static void reject_shapes(tunec_executable* model, const DLTensor* input, int64_t* const* shapes) {
  const int status = tunec_output_shapes(model, &input, shapes);
  CHECK(status == TUNEC_INVALID_ARGUMENT && tunec_error_message()[0] != '\0');
}

static void reject_weight(const DLTensor* weight) {
  static const char text[] =
      "graph m {\n  input x: f32[4, 8]\n  weight w: f32[8, 6]\n  y = matmul(x, w)\n  output y\n}\n";
  const char* names[] = {"w", "w"};
  const DLTensor* weights[] = {weight, weight};
  const char* unknown[] = {"unknown"};
  for (int i = 0; i < 2; ++i) {
    tunec_executable* model = (tunec_executable*)&failures;
    const int status = tunec_compile_graph(text, sizeof text - 1, 1, i == 0 ? names : unknown,
                                           weights, kNoDatabase, NULL, &model);
    CHECK(status == TUNEC_INVALID_ARGUMENT && model == NULL);
  }
}

static void test_dimensions(void) {
  static const char text[] = "graph m {\n  input x: f32[n, 8]\n  y = neg(x)\n  output y\n}\n";
  static const int32_t dimensions[] = {-1, 3, 65, 1 << 30, INT32_MIN, INT32_MAX};
  float data[48] = {0};
  int64_t result[2] = {0, 0}, *shapes[] = {result}, *null[] = {NULL};
  tunec_executable* model = NULL;
  CHECK(tunec_compile_bytes(text, sizeof text - 1, "graph",
                            "{\"db\": \"\", \"dims\": {\"n\": \"1..64\"}}", NULL,
                            &model) == TUNEC_OK);
  DLTensor input, weight;
  const DLTensor* right = &input;
  set_tensor(&input, data, guarded(9, 8));
  for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; ++i) {
    set_tensor(&weight, data, guarded(8, 6));
    input.ndim = dimensions[i];
    reject_shapes(model, &input, shapes);
    weight.ndim = dimensions[i];
    if (dimensions[i] != 3) reject_weight(&weight);
  }
  input.ndim = 2;
  CHECK(tunec_output_shapes(model, &right, shapes) == TUNEC_OK && result[0] == 9);
  reject_shapes(model, &input, null);
  input.shape = NULL;
  reject_shapes(model, &input, shapes);
  reject_shapes(model, NULL, shapes);
  input.shape = guarded(INT64_MIN, 8);
  reject_shapes(model, &input, shapes);
  weight.ndim = 2;
  weight.shape = NULL;
  reject_weight(&weight);
  weight.shape = guarded(-8, -6);
  reject_weight(&weight);
  tunec_release(model);
}

/* Runs and compiles a model in a forked child of a process whose pool has threads. */
static void test_fork(void) {
#ifdef __SANITIZE_THREAD__
  fprintf(stderr, "[SKIP] the sanitizer follows no threads that a child starts\n");
  return;
#endif
  tunec_executable* model = compile();
  struct run* run = new_run();
  CHECK(tunec_run(model, run->inputs, run->outputs) == TUNEC_OK);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    memset(run->y, 0, sizeof run->y);
    const int ran = tunec_run(model, run->inputs, run->outputs) == TUNEC_OK && is_right(run);
    tunec_executable* other = NULL;
    const int compiled = tunec_compile(product, kNoDatabase, &other) == TUNEC_OK;
    tunec_release(other);
    _exit(ran && compiled ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(tunec_run(model, run->inputs, run->outputs) == TUNEC_OK && is_right(run));
  free(run);
  tunec_release(model);
}

static void* compile_often(void* options) {
  for (int i = 0; i < 10; ++i) {
    tunec_executable* model = NULL;
    CHECK(tunec_compile(product, options, &model) == TUNEC_OK);
    tunec_release(model);
  }
  return NULL;
}

static void test_threads(void) {
  char shared[] = "{\"threads\": 2}"; /* uses the user's database */
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, compile_often, shared);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}

static int calls_left;
static int cancelled(void* user) {
  (void)user;
  return calls_left-- <= 0;
}

static void test_cancelling(void) {
  tunec_callbacks callbacks;
  memset(&callbacks, 0, sizeof callbacks);
  callbacks.cancelled = cancelled;
  for (int calls = 0; calls < 6; ++calls) {
    callbacks.size = sizeof callbacks;
    calls_left = calls;
    tunec_executable* model = (tunec_executable*)&failures;
    const int status = tunec_compile_with_callbacks(
        product, "{\"db\": \"\", \"trials\": 20, \"threads\": 1}", &callbacks, &model);
    CHECK((status == TUNEC_CANCELLED && model == NULL) || status == TUNEC_OK);
    if (status == TUNEC_OK) tunec_release(model);
  }
  static const size_t sizes[] = {0, 1, sizeof callbacks - 1, 1000000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    callbacks.size = sizes[i];
    tunec_executable* model = NULL;
    CHECK(tunec_compile_with_callbacks(product, kNoDatabase, &callbacks, &model) ==
          TUNEC_INVALID_ARGUMENT);
  }
}

static void count_line(void* user, const char* line) {
  if (strstr(line, "/proc/nowhere") != NULL) ++*(int*)user;
}

/* If the user's database cannot be created, a line is logged and the model is compiled. */
static void test_no_cache(void) {
  int lines = 0;
  tunec_callbacks callbacks;
  memset(&callbacks, 0, sizeof callbacks);
  callbacks.size = sizeof callbacks;
  callbacks.user = &lines;
  callbacks.log = count_line;
  setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  tunec_executable* model = NULL;
  CHECK(tunec_compile_with_callbacks(product, "{\"threads\": 2}", &callbacks, &model) == TUNEC_OK);
  CHECK(lines == 1);
  tunec_release(model);
  CHECK(tunec_compile(product, "{\"threads\": 1, \"trials\": 1}", &model) == TUNEC_OK);
  tunec_release(model);
}

static const struct test_case cases[] = {{"paths", test_paths},
                                         {"options", test_options},
                                         {"large_options", test_large_options},
                                         {"tensors", test_tensors},
                                         {"dimensions", test_dimensions},
                                         {"fork", test_fork},
                                         {"threads", test_threads},
                                         {"cancelling", test_cancelling},
                                         {"no_cache", test_no_cache}};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  snprintf(product, sizeof product, "%s/matmul.graph", argv[2]);
  return run_case(cases, sizeof cases / sizeof cases[0], argv[1]);
}
