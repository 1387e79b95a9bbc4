#include "compiler/bundle/model_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "compiler/bundle/dlpack_text.h"

namespace tunec {
namespace {

// In the two texts below, @ stands for the model's name, $ for the name in capitals, and %s for the
// name of the library's file.
constexpr std::string_view kBegin =
    R"(/* C interface of the model in %s. The library contains everything that a run needs.
 * Written by tunec build.
 *
 *     @_model* model = NULL;
 *     if (@_create(NULL, &model) != 0) puts(@_error());
 *     @_run(model, inputs, outputs);   // arrays of DLTensor*
 *     @_release(model);
 *
 * Thread safety: every function may be called from any thread. One model may run in several threads
 * at once. A model must not be released during a run.
 *
 * Errors: functions that can fail return 0 on success, otherwise the number of the kind of failure.
 * After a failure, @_error() returns the message for the calling thread. */
#ifndef TUNEC_MODEL_$_H_
#define TUNEC_MODEL_$_H_

#include <stddef.h>
#include <stdint.h>

)";

constexpr std::string_view kFunctions = R"(
#ifdef __cplusplus
extern "C" {
#endif

typedef struct @_model @_model;

/* Options for a new model. All bytes that are not set must be zero. */
typedef struct @_options {
  size_t size;          /* set it to sizeof(@_options); the library reads all these bytes */
  size_t threads;       /* threads of a run; 0: the number at build time, at most one per core */
  size_t share_threads; /* 1: share one thread pool with models of this library that set this */
  const char* device;   /* "cpu", or the number or UUID of a GPU; null: the first GPU for which the
                         * library has code, else the CPU */
} @_options;

/* Creates a model. `options` may be null. On success *model is a new model; on failure *model is
 * null. A program may create several models. */
int @_create(const @_options* options, @_model** model);
/* Runs the model once. Tensors are on the CPU, or on the GPU that runs the model. They have the
 * type and shape defined above. They are dense row-major (strides are null or row-major) and
 * aligned to the element. Outputs must not overlap each other. */
int @_run(@_model* model, DLTensor* const* inputs, DLTensor* const* outputs);
/* Computes the shapes of the outputs for `inputs`, without a run. Only the shapes of `inputs` are
 * read. The shape of output i is written to shapes[i], an array with an element per dimension. The
 * function is useful if sizes are -1. */
int @_output_shapes(@_model* model, const DLTensor* const* inputs, int64_t* const* shapes);
/* Destroys the model. A null pointer is allowed. */
void @_release(@_model* model);
/* Returns the message of the latest failed call in this thread, or "" if no call has failed. The
 * text is valid until this thread's next failure. */
const char* @_error(void);

#ifdef __cplusplus
}
#endif

#endif /* TUNEC_MODEL_$_H_ */
)";

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Returns a name as a string literal of C. Names come from the model and may contain any
// characters.
std::string Quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isprint(byte) != 0 && c != '"' && c != '\\' && c != '?';
    text += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return text + '"';
}

// Returns a DLDataType's code as a number, because not every dlpack.h declares all names.
int CodeOf(DataType type) {
  if (type == DataType::kBool) return 6;
  if (type == DataType::kBF16) return 4;
  if (IsFloat(type)) return 2;
  return IsSigned(type) ? 0 : 1;
}

std::string TensorText(std::string_view name, const TensorSpec& spec) {
  // C has no array without elements, so the shape of a scalar is written as {0}.
  const std::string shape =
      spec.shape.empty() ? "0" : fmt::format("{}", fmt::join(spec.shape, ", "));
  std::string text = fmt::format("#define {}_NAME {}\n", name, Quoted(spec.name));
  text += fmt::format("#define {}_TYPE {{{}, {}, 1}} /* a DLDataType: {} */\n", name,
                      CodeOf(spec.type), 8 * SizeOf(spec.type), Name(spec.type));
  text += fmt::format("#define {}_NDIM {}\n", name, spec.shape.size());
  text += fmt::format("#define {}_SHAPE {{{}}}\n", name, shape);
  text += fmt::format("#define {}_BYTES {}\n", name, ByteSize(spec).value_or(0));
  return text;
}

std::string TensorsText(std::string_view model, std::string_view role,
                        const std::vector<TensorSpec>& specs) {
  std::string text = fmt::format("#define {}_NUM_{}S {}\n", model, role, specs.size());
  for (size_t i = 0; i < specs.size(); ++i)
    text += TensorText(fmt::format("{}_{}_{}", model, role, i), specs[i]);
  return text + "\n";
}

}  // namespace

std::string ModelHeader(std::string_view model, std::string_view library,
                        const ModelTensors& tensors) {
  std::string capitals(model);
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto named = [&](std::string text) {
    return Replaced(Replaced(std::move(text), "@", model), "$", capitals);
  };
  std::string text = named(std::string(kBegin));
  text.replace(text.find("%s"), 2, library);
  text += DlpackText();
  text +=
      "/* Inputs and outputs, in the order of the arrays. The shape of a scalar is {0}, which is "
      "not\n"
      " * read. A size of -1 is dynamic; the number of bytes is then 0. */\n";
  text += TensorsText(capitals, "INPUT", tensors.inputs);
  text += TensorsText(capitals, "OUTPUT", tensors.outputs);
  return text + named(std::string(kFunctions));
}

}  // namespace tunec
