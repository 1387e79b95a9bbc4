// Models for tests, and functions that compile and run models.
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

/// The tolerance of every f32 result: the largest difference divided by the largest magnitude.
inline constexpr double kTolerance = 1e-4;

/// A network of tests/networks with its inputs and PyTorch's outputs by name.
struct Network {
  Graph graph;
  std::vector<Array> inputs;
  std::map<std::string, Array> arrays;
};
Result<Network> LoadNetwork(const std::string& name);

/// Parses a graph with random weights. A mistake in the text stops the test program.
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

/// Returns the only task of the front end for the graph.
TuningTask TaskOf(const Graph& graph, const CompileOptions& options);

/// Returns options for this machine, with the measuring worker of this build.
CompileOptions Options(int threads = 2);

Database InMemory();

/// Returns random inputs: uniform in [-1.5, 1.5) for floats, 0 or 1 for other types.
std::vector<Array> SomeInputs(const Executable& executable);

/// Runs the executable once and returns its outputs. Buffers are aligned only to their element.
Result<std::vector<Array>> RunOnce(const Executable& executable, const std::vector<Array>& inputs);

/// Returns the largest relative error of the executable, compared with the graph's reference
/// execution.
Result<double> ErrorAgainstReference(const Graph& graph, const Executable& executable);

}  // namespace tunec::testing
