// Bundles of small models, and files to keep them in.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "compiler/bundle/compile_variant.h"
#include "compiler/compiler.h"
#include "graph/graph.h"

namespace tunec::testing {

/// A file of this test's own, which goes with the object.
class BundlePath {
 public:
  BundlePath();
  BundlePath(const BundlePath&) = delete;
  BundlePath& operator=(const BundlePath&) = delete;
  ~BundlePath();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The options of a host by the name that users give it.
CompileOptions OptionsForCpu(std::string_view cpu);

/// The variant for that host. A failure stops the test program.
BundleVariant VariantOf(const Graph& graph, std::string_view cpu = "native");

/// Weights of several types, packed and not, constant indices, views, an output that is an input,
/// and an index that is looked at when it runs.
inline constexpr std::string_view kManyKinds = R"(graph many_kinds {
  input x: f32[4, 12]
  input i: i64[3]
  weight w: f32[12, 20]
  weight b: f32[20]
  constant rows: i64[5] = [3, 0, 1, 1, 2]
  constant table: i32[3, 2] = [10, 11, 20, 21, 30, 31]
  m = matmul(x, w)
  s = add(m, b)
  r = relu(s)
  g = gather(r, rows)
  t = gather(table, i)
  h = softmax(r)
  output g
  output t
  output h
  output same = x
})";

}  // namespace tunec::testing
