/* Two models as separate libraries in one process, without any library of tunec. Their graphs
 * are in shared_library_test.py, which compiles this file as C and as C++. */
#include "libraries/first.h"
#include "libraries/second_one.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      printf("%s:%d: %s\n%s\n%s\n", __FILE__, __LINE__, #condition, first_error(), \
             second_one_error());                                                  \
      exit(1);                                                                     \
    }                                                                              \
  } while (0)

static DLTensor tensor(void* data, DLDataType type, int dimensions, int64_t* shape) {
  DLTensor made;
  memset(&made, 0, sizeof made);
  made.data = data;
  made.device.device_type = kDLCPU;
  made.ndim = dimensions;
  made.dtype = type;
  made.shape = shape;
  return made;
}

/* Runs the model of y = matmul(x, w) + 1, which also sets cache[row] = x[0] in place. */
static void run_first(void) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, y[2][2], cache[4][3];
  int64_t row = 2, shape_x[] = FIRST_INPUT_0_SHAPE, shape_row[] = FIRST_INPUT_1_SHAPE;
  int64_t shape_cache[] = FIRST_INPUT_2_SHAPE, shape_y[] = FIRST_OUTPUT_0_SHAPE;
  DLDataType f32 = FIRST_INPUT_0_TYPE, i64 = FIRST_INPUT_1_TYPE;
  DLTensor in[FIRST_NUM_INPUTS], out[FIRST_NUM_OUTPUTS];
  DLTensor* inputs[] = {&in[0], &in[1], &in[2]};
  DLTensor* outputs[] = {&out[0], &out[1]};
  first_options options;
  first_model* model = NULL;
  memset(cache, 0, sizeof cache);
  CHECK(sizeof x == FIRST_INPUT_0_BYTES && sizeof y == FIRST_OUTPUT_0_BYTES);
  CHECK(strcmp(FIRST_INPUT_0_NAME, "x") == 0);
  in[0] = tensor(x, f32, FIRST_INPUT_0_NDIM, shape_x);
  in[1] = tensor(&row, i64, FIRST_INPUT_1_NDIM, shape_row);
  in[2] = tensor(cache, f32, FIRST_INPUT_2_NDIM, shape_cache);
  out[0] = tensor(y, f32, FIRST_OUTPUT_0_NDIM, shape_y);
  out[1] = tensor(cache, f32, FIRST_INPUT_2_NDIM, shape_cache);
  CHECK(first_create(NULL, &model) == 0);
  CHECK(first_run(model, inputs, outputs) == 0);
  CHECK(y[0][0] == 1 * 1 + 2 * 3 + 3 * 5 + 1 && y[1][1] == 4 * 2 + 5 * 4 + 6 * 6 + 1);
  CHECK(cache[2][0] == 1 && cache[2][2] == 3 && cache[1][0] == 0);
  in[0].ndim = 1;
  CHECK(first_run(model, inputs, outputs) != 0);
  CHECK(strstr(first_error(), "dimensions") != NULL);
  first_release(model);
  first_release(NULL);
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "0";
  CHECK(first_create(&options, &model) != 0 && model == NULL);
  CHECK(strstr(first_error(), "GPU '0' is requested") != NULL);
}

/* Runs the model, a relu, on `count` elements: `value`, then fives. */
static void run_second(second_one_model* model, float value, int64_t count) {
  float x[8] = {value, 5, 5, 5, 5, 5, 5, 5}, y[8] = {0};
  int64_t shape[] = SECOND_ONE_INPUT_0_SHAPE, result[] = {0};
  int64_t* results[] = {result};
  DLDataType type = SECOND_ONE_INPUT_0_TYPE;
  DLTensor in = tensor(x, type, SECOND_ONE_INPUT_0_NDIM, shape);
  DLTensor out = tensor(y, type, SECOND_ONE_OUTPUT_0_NDIM, result);
  DLTensor *inputs[] = {&in}, *outputs[] = {&out};
  const DLTensor* asked[] = {&in};
  CHECK(shape[0] == -1);
  shape[0] = count;
  CHECK(second_one_output_shapes(model, asked, results) == 0 && result[0] == count);
  CHECK(second_one_run(model, inputs, outputs) == 0);
  CHECK(y[0] == (value > 0 ? value : 0) && y[count - 1] == 5);
}

/* Counts mapped executable segments of the library, and anonymous ones of the whole process. */
static void count_code(const char* library, int* mapped, int* anonymous) {
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  *mapped = *anonymous = 0;
  while (fgets(line, sizeof line, maps)) {
    if (strstr(line, " r-xp ") == NULL && strstr(line, " rwxp ") == NULL) continue;
    *mapped += strstr(line, library) != NULL;
    *anonymous += strchr(line, '/') == NULL && strchr(line, '[') == NULL;
  }
  fclose(maps);
}

int main(void) {
  second_one_model *one = NULL, *two = NULL;
  int mapped, anonymous, before;
  count_code("libfirst.so", &mapped, &before);
  CHECK(mapped == 1);
  CHECK(second_one_create(NULL, &one) == 0 && second_one_create(NULL, &two) == 0);
  run_first();
  run_second(one, 7, 2);
  second_one_release(one);
  run_second(two, -7, 5);
  second_one_release(two);
  CHECK(strcmp(second_one_error(), "") == 0); /* each library has its own errors */
  /* The library's executable segments are its own code and the model's code. */
  count_code("libfirst.so", &mapped, &anonymous);
  CHECK(mapped == 2 && anonymous == before);
  return 0;
}
