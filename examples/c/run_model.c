/* Compiles a model, prints types and shapes of inputs and outputs, and runs the model once. float32
 * inputs are repeated ramps; other inputs are zero. Prints up to 8 elements of each float32 output.
 *
 *     run_model MODEL [OPTIONS_JSON] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tunec/tunec.h>

static void fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tunec_error_message());
  exit(1);
}

static size_t element_count(const DLTensor* tensor) {
  size_t count = 1;
  for (int d = 0; d < tensor->ndim; ++d) count *= (size_t)tensor->shape[d];
  return count;
}

/* Returns a tensor that owns its memory. free_tensor releases the tensor. */
static DLTensor* new_tensor(DLDataType type, int ndim, const int64_t* shape) {
  DLTensor* tensor = calloc(1, sizeof *tensor);
  if (tensor == NULL) abort();
  tensor->device.device_type = kDLCPU;
  tensor->dtype = type;
  tensor->ndim = ndim;
  tensor->shape = calloc((size_t)ndim + 1, sizeof *shape);
  if (tensor->shape == NULL) abort();
  memcpy(tensor->shape, shape, (size_t)ndim * sizeof *shape);
  tensor->data = calloc(element_count(tensor) + 1, type.bits / 8);
  if (tensor->data == NULL) abort();
  return tensor;
}

static void free_tensor(DLTensor* tensor) {
  free(tensor->data);
  free(tensor->shape);
  free(tensor);
}

static int is_f32(const DLTensor* tensor) {
  return tensor->dtype.code == kDLFloat && tensor->dtype.bits == 32;
}

static void print_tensor(const char* kind, const char* name, const DLTensor* tensor) {
  printf("%s %s: %d-bit type %d, shape [", kind, name, tensor->dtype.bits, tensor->dtype.code);
  for (int d = 0; d < tensor->ndim; ++d) printf("%s%" PRId64, d > 0 ? ", " : "", tensor->shape[d]);
  printf("]\n");
}

static DLTensor** make_inputs(const tunec_executable* model) {
  DLTensor** inputs = calloc(tunec_num_inputs(model) + 1, sizeof *inputs);
  if (inputs == NULL) abort();
  for (size_t i = 0; i < tunec_num_inputs(model); ++i) {
    inputs[i] = new_tensor(tunec_input_type(model, i), tunec_input_ndim(model, i),
                           tunec_input_shape(model, i));
    print_tensor("input", tunec_input_name(model, i), inputs[i]);
    if (!is_f32(inputs[i])) continue; /* other types stay zero */
    for (size_t k = 0; k < element_count(inputs[i]); ++k)
      ((float*)inputs[i]->data)[k] = (float)(k % 17) / 16.0F - 0.5F;
  }
  return inputs;
}

static DLTensor** make_outputs(const tunec_executable* model) {
  DLTensor** outputs = calloc(tunec_num_outputs(model) + 1, sizeof *outputs);
  if (outputs == NULL) abort();
  for (size_t i = 0; i < tunec_num_outputs(model); ++i) {
    outputs[i] = new_tensor(tunec_output_type(model, i), tunec_output_ndim(model, i),
                            tunec_output_shape(model, i));
    print_tensor("output", tunec_output_name(model, i), outputs[i]);
  }
  return outputs;
}

static void print_line(void* user, const char* line) {
  (void)user;
  fprintf(stderr, "%s\n", line);
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s MODEL [OPTIONS_JSON]\n", argv[0]);
    return 2;
  }
  printf("tunec %s\n", tunec_version());

  tunec_callbacks callbacks = {sizeof callbacks, NULL, NULL, NULL, print_line};
  tunec_executable* model = NULL;
  if (tunec_compile_with_callbacks(argv[1], argc == 3 ? argv[2] : NULL, &callbacks, &model) !=
      TUNEC_OK)
    fail(argv[1]);

  DLTensor** inputs = make_inputs(model);
  DLTensor** outputs = make_outputs(model);
  if (tunec_run(model, inputs, outputs) != TUNEC_OK) fail("run");

  for (size_t i = 0; i < tunec_num_outputs(model); ++i) {
    printf("%s:", tunec_output_name(model, i));
    for (size_t k = 0; is_f32(outputs[i]) && k < element_count(outputs[i]) && k < 8; ++k)
      printf(" %g", ((float*)outputs[i]->data)[k]);
    printf("\n");
  }

  for (size_t i = 0; i < tunec_num_inputs(model); ++i) free_tensor(inputs[i]);
  for (size_t i = 0; i < tunec_num_outputs(model); ++i) free_tensor(outputs[i]);
  free(inputs);
  free(outputs);
  tunec_release(model);
  return 0;
}
