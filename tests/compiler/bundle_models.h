// Small graphs, names of temporary files and compile functions for tests of bundles.
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

/// A unique name of a temporary file. The destructor removes the file if it exists.
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

/// Returns options that compile for the CPU `cpu`, in the form of --cpu, with two threads. Aborts
/// the test program if `cpu` is invalid.
CompileOptions OptionsForCpu(std::string_view cpu);

/// Compiles the graph to a bundle variant for the CPU `cpu`, in the form of --cpu. Aborts the test
/// program if the compilation fails.
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

/// A graph with the dynamic dimensions batch and length. It has attention, a mean along the length,
/// and a slice of the last position. The length can be padded. Runs can be split along the batch.
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

/// Loads a graph text with the named dynamic dimensions. Each has the listed sizes 12 and 20. The
/// weights are random. Aborts the test program if the text is invalid.
SizedSource SourceOf(std::string_view text, const std::vector<std::string>& dimensions);

/// Compiles the source for the listed sizes to a bundle variant for the CPU `cpu`. Aborts the test
/// program if the compilation fails.
BundleVariant SizedVariantOf(const SizedSource& source, const std::vector<ListedSizes>& listed,
                             std::string_view cpu = "native");

}  // namespace tunec::testing
