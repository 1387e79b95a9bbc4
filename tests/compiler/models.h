// Models for tests, and functions that load, parse and run models.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/task.h"
#include "compiler/compiler.h"
#include "graph/graph.h"
#include "ir/array.h"
#include "runtime/executable.h"
#include "support/error.h"

namespace tunec::testing {

/// The tolerance of many tests for relative errors (RelativeError) of f32 results.
inline constexpr double kTolerance = 1e-4;

/// A network of tests/networks. `inputs` are in the order of the graph's inputs. `arrays` has the
/// inputs and PyTorch's outputs by name.
struct Network {
  Graph graph;
  std::vector<Array> inputs;
  std::map<std::string, Array> arrays;
};
Result<Network> LoadNetwork(const std::string& name);

/// Parses a graph with random weights. Aborts the test program if the text is invalid.
Graph GraphOf(std::string_view text);

/// A convolution with bias and relu. Fusion makes one group of it.
inline constexpr std::string_view kConvRelu = R"(graph conv_relu {
  input x: f32[1, 5, 13, 11]
  weight w: f32[7, 5, 3, 3]
  weight b: f32[7]
  c = conv(x, w, b) {pads=[1, 1, 1, 1]}
  r = relu(c)
  output y = r
})";

/// A graph with the dynamic dimension length. It exists only at even lengths.
inline constexpr std::string_view kPairs = R"(graph pairs {
  input x: f32[length, 3]
  p = reshape(x) {shape=[length / 2, 2, 3]}
  m = reduce_max(p) {axes=[1], keepdims=0}
  y = softmax(m) {axis=0}
  output y
})";

/// Returns the only tuning task of the graph. Aborts the test program if there is no such task.
TuningTask TaskOf(const Graph& graph, const CompileOptions& options);

/// Returns options for the CPU of this machine, with the tuning worker of this build.
CompileOptions Options(int threads = 2);

Database InMemory();

/// Returns random inputs. Floats are in [-1.5, 1.5], and other types are 0 or 1.
std::vector<Array> SomeInputs(const Executable& executable);

/// Runs the executable once and returns its outputs. Buffers are aligned only to the element size.
Result<std::vector<Array>> RunOnce(const Executable& executable, const std::vector<Array>& inputs);

/// Runs the executable on SomeInputs. Returns the largest relative error against the reference
/// execution of the graph, or at least 1e30 if the numbers of outputs differ.
Result<double> ErrorAgainstReference(const Graph& graph, const Executable& executable);

}  // namespace tunec::testing
