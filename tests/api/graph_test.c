/* Tests of the functions of graph.h in C: test_api_graph CASE FOLDER runs one case. */
#include <stdio.h>
#include <string.h>
#include <tunec/graph.h>

#include "check.h"

static const char* const no_database = "{\"threads\": 2, \"db\": \"\"}";

static int message_has(const char* part) { return strstr(tunec_error_message(), part) != NULL; }

/* Expects a failure with a message. */
static void fails(int line, int status, int expected, const char* part) {
  if (status == expected && message_has(part)) return;
  fprintf(stderr, "line %d: status %d, message '%s'; expected %d, '%s'\n", line, status,
          tunec_error_message(), expected, part);
  ++failures;
}
#define FAILS(call, expected, part) fails(__LINE__, call, expected, part)

static tunec_graph* create(const char* name) {
  tunec_graph* graph = NULL;
  CHECK(tunec_graph_create(name, &graph) == TUNEC_OK && graph != NULL);
  return graph;
}

static int64_t input(tunec_graph* graph, const char* name, const char* type) {
  int64_t value = -1;
  CHECK(tunec_graph_add_input(graph, name, type, &value) == TUNEC_OK);
  return value;
}

static int64_t node(tunec_graph* graph, const char* op, int64_t a, int64_t b,
                    const char* attributes, const char* name) {
  const int64_t operands[] = {a, b};
  int64_t value = -1;
  CHECK(tunec_graph_add_node(graph, op, b == TUNEC_OMITTED ? 1 : 2, operands, attributes, name,
                             &value) == TUNEC_OK);
  return value;
}

static int text_is(tunec_graph* graph, const char* expected) {
  const char* text = NULL;
  CHECK(tunec_graph_print(graph, &text) == TUNEC_OK);
  const int is_same = text != NULL && strcmp(text, expected) == 0;
  if (!is_same) fprintf(stderr, "the text is\n%s", text == NULL ? "null" : text);
  return is_same;
}

static int extent_is(tunec_graph* graph, int64_t value, size_t axis, const char* expected) {
  const char* extent = tunec_graph_extent(graph, value, axis);
  return extent != NULL && strcmp(extent, expected) == 0;
}

/* y = (x * w)[:, 1:] - 2.5, and nodes that no output needs. The values are 0, 1, 2 and so on. */
static tunec_graph* rows_graph(void) {
  tunec_graph* graph = create("rows");
  const int64_t x = input(graph, "x", "f32[n, 3]");
  int64_t w = -1, c = -1;
  CHECK(tunec_graph_add_weight(graph, NULL, "f32[3]", "layer.w", &w) == TUNEC_OK);
  CHECK(tunec_graph_add_constant(graph, "c", "f32[]", "2.5", &c) == TUNEC_OK);
  CHECK(x == 0 && w == 1 && c == 2);
  const int64_t product = node(graph, "mul", x, w, NULL, "y");
  node(graph, "neg", product, TUNEC_OMITTED, "", "dead");
  int64_t unused = -1;
  CHECK(tunec_graph_add_weight(graph, "unused", "f32[9]", "unused", &unused) == TUNEC_OK);
  const int64_t part =
      node(graph, "slice", product, TUNEC_OMITTED, "starts=[0, 1], ends=[n, 3], steps=[1, 1]", "y");
  const int64_t y = node(graph, "sub", part, c, NULL, NULL);
  CHECK(product == 3 && y == 7);
  CHECK(tunec_graph_add_output(graph, "y", y) == TUNEC_OK);
  return graph;
}

static void test_build(void) {
  tunec_graph* graph = rows_graph();
  CHECK(text_is(graph,
                "graph rows {\n"
                "  input x: f32[n, 3]\n"
                "  weight layer.w: f32[3]\n"
                "  constant c: f32[] = 2.5\n"
                "  y = mul(x, layer.w): f32[n, 3]\n"
                "  y_1 = slice(y) {ends=[n, 3], starts=[0, 1], steps=[1, 1]}: f32[n, 2]\n"
                "  sub = sub(y_1, c): f32[n, 2]\n"
                "  output y = sub\n"
                "}\n"));
  CHECK(strcmp(tunec_graph_element_type(graph, 7), "f32") == 0);
  CHECK(tunec_graph_rank(graph, 7) == 2 && tunec_graph_rank(graph, 2) == 0);
  CHECK(extent_is(graph, 7, 0, "n") && extent_is(graph, 7, 1, "2"));
  CHECK(tunec_graph_extent(graph, 7, 2) == NULL && tunec_graph_extent(graph, 8, 0) == NULL);
  CHECK(tunec_graph_extent(NULL, 0, 0) == NULL && tunec_graph_rank(graph, -1) == -1);
  CHECK(tunec_graph_rank(NULL, 0) == -1 && tunec_graph_element_type(graph, 8) == NULL);
  CHECK(tunec_graph_element_type(NULL, 0) == NULL);
  /* A graph may grow after it was printed, and an omitted operand may be followed by another. */
  const int64_t operands[] = {0, TUNEC_OMITTED, 2};
  int64_t clamped = -1;
  const char* text = NULL;
  CHECK(tunec_graph_add_node(graph, "pad", 1, operands, "pads=[0, 1, 0, 2*n], value=-inf", "pad",
                             &clamped) == TUNEC_OK);
  CHECK(extent_is(graph, clamped, 1, "2*n + 4"));
  CHECK(tunec_graph_add_output(graph, "padded", clamped) == TUNEC_OK);
  CHECK(tunec_graph_print(graph, &text) == TUNEC_OK);
  CHECK(strstr(text, "output padded = pad\n") != NULL);
  tunec_graph_release(graph);
  tunec_graph_release(NULL);
}

static void test_names(void) {
  tunec_graph* graph = create("two words");
  const int64_t x = input(graph, "input", "i64[\"a b\"]");
  const int64_t neg = node(graph, "neg", x, TUNEC_OMITTED, NULL, "later");
  input(graph, "later", "f64[]");
  CHECK(tunec_graph_add_output(graph, "out", neg) == TUNEC_OK);
  CHECK(tunec_graph_add_output(graph, "again", neg) == TUNEC_OK);
  CHECK(extent_is(graph, x, 0, "\"a b\""));
  CHECK(text_is(graph,
                "graph \"two words\" {\n"
                "  input \"input\": i64[\"a b\"]\n"
                "  later_1 = neg(\"input\") as \"later\": i64[\"a b\"]\n"
                "  input later: f64[]\n"
                "  output out = later_1\n"
                "  output again = later_1\n"
                "}\n"));
  tunec_graph_release(graph);
}

static void test_conditions(void) {
  tunec_graph* graph = create("g");
  const int64_t x = input(graph, "x", "f32[n]"), y = input(graph, "y", "f32[m]");
  const char* text = NULL;
  CHECK(tunec_graph_conditions(graph, &text) == TUNEC_OK && strcmp(text, "") == 0);
  const int64_t sum = node(graph, "add", x, y, NULL, NULL);
  node(graph, "slice", x, TUNEC_OMITTED, "starts=[0], ends=[9], steps=[1]", NULL);
  CHECK(tunec_graph_add_output(graph, "sum", sum) == TUNEC_OK);
  CHECK(tunec_graph_conditions(graph, &text) == TUNEC_OK);
  CHECK(strcmp(text, "m == n\n") == 0 || strcmp(text, "n == m\n") == 0);
  FAILS(tunec_graph_conditions(graph, NULL), TUNEC_INVALID_ARGUMENT, "text is null");
  FAILS(tunec_graph_conditions(NULL, &text), TUNEC_INVALID_ARGUMENT, "graph is null");
  CHECK(text == NULL);
  tunec_graph_release(graph);

  int equal = -1;
  CHECK(tunec_sizes_are_equal("(n + 5)/2", "(n + 1)/2 + 2", &equal) == TUNEC_OK && equal == 1);
  CHECK(tunec_sizes_are_equal("n", "m", &equal) == TUNEC_OK && equal == 0);
  FAILS(tunec_sizes_are_equal("n +", "m", &equal), TUNEC_PARSE_ERROR, "1:4");
  FAILS(tunec_sizes_are_equal("n", "m m", &equal), TUNEC_PARSE_ERROR, "the end of the text");
  FAILS(tunec_sizes_are_equal(NULL, "m", &equal), TUNEC_INVALID_ARGUMENT, "one is null");
  FAILS(tunec_sizes_are_equal("n", NULL, &equal), TUNEC_INVALID_ARGUMENT, "other is null");
  FAILS(tunec_sizes_are_equal("n", "m", NULL), TUNEC_INVALID_ARGUMENT, "equal is null");
}

static void test_wrong_leaves(void) {
  tunec_graph* graph = create("g");
  int64_t value = -5;
  const int argument = TUNEC_INVALID_ARGUMENT, parse = TUNEC_PARSE_ERROR;
  FAILS(tunec_graph_create("g", NULL), argument, "out is null");
  tunec_graph* none = graph;
  FAILS(tunec_graph_create(NULL, &none), argument, "name is null");
  CHECK(none == NULL);

  input(graph, "x", "f32[2]");
  FAILS(tunec_graph_add_input(NULL, "y", "f32[2]", &value), argument, "graph is null");
  FAILS(tunec_graph_add_input(graph, NULL, "f32[2]", &value), argument, "name is null");
  FAILS(tunec_graph_add_input(graph, "y", NULL, &value), argument, "type is null");
  FAILS(tunec_graph_add_input(graph, "y", "f32[2]", NULL), argument, "value is null");
  FAILS(tunec_graph_add_input(graph, "", "f32[2]", &value), argument, "an input has no name");
  FAILS(tunec_graph_add_input(graph, "x", "f32[2]", &value), argument, "x is already used");
  FAILS(tunec_graph_add_input(graph, "y", "f33[2]", &value), parse, "f33 is not a type");
  FAILS(tunec_graph_add_input(graph, "y", "f32[2", &value), parse, "<type>:1:6");
  FAILS(tunec_graph_add_input(graph, "y", "f32[2] f32", &value), parse, "the end of the text");
  FAILS(tunec_graph_add_input(graph, "y", "f32[2] layout [2] (i) -> [1 - i]", &value),
        TUNEC_UNSUPPORTED, "layout");
  FAILS(tunec_graph_add_input(graph, "y", "f32[n/0]", &value), parse, "0");
  FAILS(tunec_graph_add_input(graph, "y", "f32[-2]", &value), argument, "at least 0");
  FAILS(tunec_graph_add_input(graph, "y", "f32[281474976710657]", &value), argument, "2^48");

  FAILS(tunec_graph_add_weight(NULL, "w", "f32[2]", "w", &value), argument, "graph is null");
  FAILS(tunec_graph_add_weight(graph, "w", NULL, "w", &value), argument, "type is null");
  FAILS(tunec_graph_add_weight(graph, "w", "f32[2]", NULL, &value), argument, "key is null");
  FAILS(tunec_graph_add_weight(graph, "w", "f32[2]", "w", NULL), argument, "value is null");
  FAILS(tunec_graph_add_weight(graph, "w", "f32[2]", "", &value), argument, "an empty key");
  FAILS(tunec_graph_add_weight(graph, "w", "f32[n]", "w", &value), argument, "expected fixed");
  FAILS(tunec_graph_add_weight(graph, "w", "f32[281474976710657]", "w", &value), argument, "2^48");
  FAILS(tunec_graph_add_weight(graph, "w", "f32", "w", &value), parse, "<type>");

  FAILS(tunec_graph_add_constant(NULL, "c", "f32[]", "1", &value), argument, "graph is null");
  FAILS(tunec_graph_add_constant(graph, "c", NULL, "1", &value), argument, "type is null");
  FAILS(tunec_graph_add_constant(graph, "c", "f32[]", NULL, &value), argument, "elements is null");
  FAILS(tunec_graph_add_constant(graph, "c", "f32[]", "1", NULL), argument, "value is null");
  FAILS(tunec_graph_add_constant(graph, "c", "f32[n]", "[1]", &value), argument, "expected fixed");
  FAILS(tunec_graph_add_constant(graph, "c", "f32[3]", "[1, 2]", &value), parse, "expected 3");
  FAILS(tunec_graph_add_constant(graph, "c", "i32[1]", "[1.5]", &value), parse, "an integer");
  FAILS(tunec_graph_add_constant(graph, "c", "f32[]", "1 2", &value), parse, "end of the text");
  CHECK(value == -5);
  tunec_graph_release(graph);
}

static void test_wrong_nodes(void) {
  tunec_graph* graph = create("g");
  const int64_t x = input(graph, "x", "f32[2]"), y = input(graph, "y", "f32[3]");
  const int64_t b = input(graph, "b", "bool[2]");
  const int argument = TUNEC_INVALID_ARGUMENT, parse = TUNEC_PARSE_ERROR;
  int64_t value = -5;
  int64_t two[] = {x, y};
#define ADD(op, count, attributes) \
  tunec_graph_add_node(graph, op, count, two, attributes, "n", &value)
  FAILS(tunec_graph_add_node(NULL, "neg", 1, two, NULL, NULL, &value), argument, "graph is null");
  FAILS(tunec_graph_add_node(graph, NULL, 1, two, NULL, NULL, &value), argument, "op is null");
  FAILS(tunec_graph_add_node(graph, "neg", 1, NULL, NULL, NULL, &value), argument,
        "operands is null");
  FAILS(tunec_graph_add_node(graph, "neg", 1, two, NULL, NULL, NULL), argument, "value is null");
  FAILS(ADD("matmu", 2, NULL), argument, "did you mean matmul?");
  FAILS(ADD("input", 1, NULL), argument, "input is no operator");
  FAILS(ADD("if", 1, NULL), TUNEC_UNSUPPORTED, "nested graphs");
  FAILS(ADD("free", 1, NULL), TUNEC_UNSUPPORTED, "no result");
  FAILS(ADD("neg", 2, NULL), argument, "neg has 2 operands, expected 1");
  FAILS(ADD("add", 2, NULL), argument, "do not broadcast");
  FAILS(ADD("neg", 1, "axis=1"), argument, "neg has no attribute axis");
  FAILS(ADD("reduce_sum", 1, "axes=[1]"), argument, "axis is 1");
  FAILS(ADD("reduce_sum", 1, "axes=\"a\""), argument, "attribute axes is");
  FAILS(ADD("reduce_sum", 1, "axes=[0], axes=[0]"), parse, "given twice");
  FAILS(ADD("reduce_sum", 1, "axes=[0"), parse, "<attributes>:1:8");
  FAILS(ADD("reduce_sum", 1, "axes=[0]} {"), parse, "the end of the text");
  two[0] = b;
  FAILS(ADD("neg", 1, NULL), argument, "operand 0 is bool");
  two[0] = TUNEC_OMITTED;
  FAILS(ADD("add", 2, NULL), argument, "omitted, but required");
  two[0] = 3;
  FAILS(ADD("add", 2, NULL), argument, "value 3 is not in the graph");
  two[0] = -2;
  FAILS(ADD("add", 2, NULL), argument, "value -2 is not in the graph");
#undef ADD
  CHECK(value == -5);

  FAILS(tunec_graph_add_output(NULL, "o", x), argument, "graph is null");
  FAILS(tunec_graph_add_output(graph, NULL, x), argument, "name is null");
  FAILS(tunec_graph_add_output(graph, "", x), argument, "an output's name is empty");
  FAILS(tunec_graph_add_output(graph, "o", 3), argument, "value 3 is not in the graph");
  const char* text = "";
  FAILS(tunec_graph_print(graph, &text), argument, "graph g has no output");
  CHECK(text == NULL);
  FAILS(tunec_graph_print(graph, NULL), argument, "text is null");
  FAILS(tunec_graph_print(NULL, &text), argument, "graph is null");
  CHECK(tunec_graph_add_output(graph, "o", x) == TUNEC_OK);
  FAILS(tunec_graph_add_output(graph, "o", x), argument, "two outputs are called o");
  tunec_graph_release(graph);
}

static DLTensor floats(float* data, int32_t ndim, int64_t* shape) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.ndim = ndim;
  tensor.shape = shape;
  return tensor;
}

/* Runs the model of rows_graph on `n` rows. */
static void run_rows(tunec_executable* model, int64_t n, const float* w) {
  float x[15], y[10];
  int64_t shape_x[] = {n, 3}, shape_y[] = {n, 2};
  for (int i = 0; i < 15; ++i) x[i] = (float)i - 4;
  DLTensor of_x = floats(x, 2, shape_x), of_y = floats(y, 2, shape_y);
  DLTensor *inputs[] = {&of_x}, *outputs[] = {&of_y};
  CHECK(tunec_run(model, inputs, outputs) == TUNEC_OK);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < 2; ++j) CHECK(y[2 * i + j] == x[3 * i + j + 1] * w[j + 1] - 2.5F);
  }
}

static int compile_rows(const tunec_graph* graph, float* w, const char* options,
                        tunec_executable** model) {
  int64_t shape[] = {3};
  const DLTensor tensor = floats(w, 1, shape);
  const DLTensor* tensors[] = {&tensor};
  const char* names[] = {"layer.w"};
  return tunec_graph_compile(graph, 1, names, tensors, options, NULL, model);
}

static void test_compile(void) {
  tunec_graph* graph = rows_graph();
  float w[] = {2, 3, 0.5F};
  tunec_executable *any = NULL, *fixed = NULL, *listed = NULL, *turned = NULL;
  CHECK(compile_rows(graph, w, no_database, &any) == TUNEC_OK);
  CHECK(compile_rows(graph, w, "{\"db\": \"\", \"dims\": {\"n\": 4}}", &fixed) == TUNEC_OK);
  CHECK(compile_rows(graph, w, "{\"db\": \"\", \"dims\": {\"n\": [2, 4]}}", &listed) == TUNEC_OK);
  /* The graph may change later. */
  CHECK(tunec_graph_add_output(graph, "more", 0) == TUNEC_OK);
  tunec_graph_release(graph);
  CHECK(tunec_num_outputs(any) == 1 && tunec_input_shape(any, 0)[0] == -1);
  run_rows(any, 5, w);
  run_rows(any, 2, w);
  CHECK(tunec_input_shape(fixed, 0)[0] == 4);
  run_rows(fixed, 4, w);
  run_rows(listed, 2, w);
  run_rows(listed, 4, w);
  CHECK(tunec_compile_layouts(fixed, "{\"x\": \"1,0\"}", NULL, &turned) == TUNEC_OK);
  CHECK(tunec_input_order(turned, 0)[0] == 1);
  tunec_release(any);
  tunec_release(fixed);
  tunec_release(listed);
  tunec_release(turned);
}

static void test_wrong_compile(void) {
  tunec_graph* graph = rows_graph();
  float w[3] = {0};
  int64_t shape[] = {3}, wrong_shape[] = {2};
  const DLTensor right = floats(w, 1, shape), wrong = floats(w, 1, wrong_shape);
  const DLTensor* tensors[] = {&right};
  const char* names[] = {"layer.w"};
  tunec_executable* model = (tunec_executable*)&failures;
  FAILS(tunec_graph_compile(graph, 0, NULL, NULL, no_database, NULL, &model), TUNEC_NOT_FOUND,
        "weight 'layer.w' is not among those given");
  CHECK(model == NULL);
  const int argument = TUNEC_INVALID_ARGUMENT;
  FAILS(tunec_graph_compile(NULL, 1, names, tensors, no_database, NULL, &model), argument,
        "graph is null");
  FAILS(tunec_graph_compile(graph, 1, names, tensors, no_database, NULL, NULL), argument,
        "out is null");
  FAILS(tunec_graph_compile(graph, 1, NULL, tensors, no_database, NULL, &model), argument,
        "the array of names is null");
  FAILS(compile_rows(graph, w, "{\"random_weights\": 1}", &model), argument,
        "expected no random weights");
  FAILS(compile_rows(graph, w, "{\"thread\": 1}", &model), argument, "thread");
  FAILS(compile_rows(graph, w, "{\"db\": \"\", \"dims\": {\"m\": 4}}", &model), argument,
        "the dimension 'm', which the graph does not name");
  FAILS(compile_rows(graph, w, "{\"db\": \"\", \"dims\": {\"n\": -1}}", &model), argument, "n");
  tensors[0] = &wrong;
  FAILS(tunec_graph_compile(graph, 1, names, tensors, no_database, NULL, &model), argument,
        "weight 'layer.w' has shape");
  tunec_graph_release(graph);
  graph = create("empty");
  FAILS(tunec_graph_compile(graph, 0, NULL, NULL, no_database, NULL, &model), argument,
        "graph empty has no output");
  tunec_graph_release(graph);
}

static const struct test_case cases[] = {{"build", test_build},
                                         {"names", test_names},
                                         {"conditions", test_conditions},
                                         {"wrong_leaves", test_wrong_leaves},
                                         {"wrong_nodes", test_wrong_nodes},
                                         {"compile", test_compile},
                                         {"wrong_compile", test_wrong_compile}};

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return run_case(cases, sizeof cases / sizeof cases[0], argv[1]);
}
