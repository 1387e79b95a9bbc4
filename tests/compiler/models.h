// Models to compile, ways to compile them, and runs of what came out.
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

/// What every f32 result has to keep to: the largest difference over the largest magnitude.
inline constexpr double kTolerance = 1e-4;

/// A network of tests/networks with its inputs and PyTorch's outputs by name.
struct Network {
  Graph graph;
  std::vector<Array> inputs;
  std::map<std::string, Array> arrays;
};
Result<Network> LoadNetwork(const std::string& name);

/// The graph of a text; its weights are random. A mistake in it stops the test program.
Graph GraphOf(std::string_view text);

/// A convolution with bias and relu: one group, whatever its values are called.
inline constexpr std::string_view kConvRelu = R"(graph conv_relu {
  input x: f32[1, 5, 13, 11]
  weight w: f32[7, 5, 3, 3]
  weight b: f32[7]
  c = conv(x, w, b) {pads=[1, 1, 1, 1]}
  r = relu(c)
  output y = r
})";

/// The one task that the front end makes of the graph.
TuningTask TaskOf(const Graph& graph, const CompileOptions& options);

/// For this machine, with the measuring worker of this build.
CompileOptions Options(int threads = 2);

Database InMemory();

/// Uniform in [-1.5, 1.5) for floats, small indices for integers.
std::vector<Array> SomeInputs(const Executable& executable);

/// The outputs for these inputs. Buffers are aligned to the element and no more.
Result<std::vector<Array>> RunOnce(const Executable& executable, const std::vector<Array>& inputs);

/// The largest relative error of the executable against the graph's reference execution.
Result<double> ErrorAgainstReference(const Graph& graph, const Executable& executable);

}  // namespace tunec::testing
