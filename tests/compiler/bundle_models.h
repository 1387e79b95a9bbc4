// Bundles of small models, and files that store them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/bundle/compile_variant.h"
#include "compiler/compiler.h"
#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "runtime/sized/choose_sizes.h"

namespace tunec::testing {

/// A file name for this test. The destructor removes the file.
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

/// Returns the compile options for the host `cpu`, in the form of --cpu.
CompileOptions OptionsForCpu(std::string_view cpu);

/// Returns the variant for the host. Stops the test program if it cannot be built.
BundleVariant VariantOf(const Graph& graph, std::string_view cpu = "native");

/// A graph with packed and unpacked weights, integer constants, constant indices, an output that is
/// an input, and an index that is checked at run time.
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

/// A model with two dynamic dimensions. It has attention, a mean and the last position along the
/// length, which is padded. Runs may be split along the batch.
inline constexpr std::string_view kOpenSizes = R"(graph open_sizes {
  input x: f32[batch, length, 16]
  input keep: bool[batch, length]
  weight wq: f32[16, 16]
  weight wk: f32[16, 16]
  weight w: f32[16, 24]
  q = matmul(x, wq)
  k = matmul(x, wk)
  mask = reshape(keep) {shape=[batch, 1, length]}
  a = attention(q, k, x, mask)
  rows = reshape(a) {shape=[batch * length, 16]}
  h = matmul(rows, w)
  g = gelu(h)
  y = reshape(g) {shape=[batch, length, 24]}
  mean = reduce_mean(y) {axes=[1], keepdims=0}
  last = slice(y) {starts=[0, length - 1, 0], ends=[batch, length, 24]}
  output y
  output mean
  output last
})";

/// Returns the source of graphs for a text with dynamic dimensions. The weights are random.
SizedSource SourceOf(std::string_view text, const std::vector<std::string>& dimensions);

/// Returns the source's variant of a bundle for the host. Stops the test program if it cannot be
/// built.
BundleVariant SizedVariantOf(const SizedSource& source, const std::vector<ListedSizes>& listed,
                             std::string_view cpu = "native");

}  // namespace tunec::testing
