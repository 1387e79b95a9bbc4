// A model that has a graph at each of several sets of sizes, and its builder. All graphs have the
// same nodes in the same order, like the graphs of one file.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/pad/pad_graph.h"
#include "tests/fuzz/random_values.h"

namespace tunec::fuzz {

/// A set of sizes. Graphs for kExact and kOther are padded to the sizes of kBucket, and may give
/// the same padded graph.
enum SizeSet : uint8_t { kExact, kBucket, kOther };
inline constexpr std::array<SizeSet, 3> kSizeSets = {kExact, kBucket, kOther};

/// The size of an axis in each of the graphs.
using AxisSizes = std::array<int64_t, kSizeSets.size()>;
using SizedShape = std::vector<AxisSizes>;
inline AxisSizes Fixed(int64_t size) { return {size, size, size}; }
inline bool IsFixed(const AxisSizes& sizes) {
  return sizes[kExact] == sizes[kBucket] && sizes[kExact] == sizes[kOther];
}
std::vector<int64_t> ShapeAt(const SizedShape& shape, SizeSet set);

struct SizedModel {
  std::array<Graph, kSizeSets.size()> graphs;
  Values values = Values::kOrdinary;
};

SizedShape ShapeOf(const SizedModel& model, ValueId value);

/// Returns the input axes whose sizes differ between the graphs. Two axes belong to one dimension
/// if they have the same size in each graph.
std::vector<OpenAxis> OpenAxes(const SizedModel& model);

/// A builder of the graphs at all sizes. Values and nodes have the same numbers in each graph.
class SizedBuilder {
 public:
  SizedBuilder()
      : builders_{GraphBuilder("exact"), GraphBuilder("bucket"), GraphBuilder("other")} {}

  ValueId AddInput(const std::string& name, DataType type, const SizedShape& shape);
  ValueId AddConstant(const std::string& name, const std::array<Array, kSizeSets.size()>& arrays);
  /// Adds a node to each graph and returns the results. Returns no value if type inference fails in
  /// a graph. Returns no value if a result is empty, has more than `most_elements`, or does not fit
  /// into the result for kBucket.
  std::optional<std::vector<ValueId>> Add(
      Op op, const std::vector<ValueId>& inputs,
      const std::array<Attributes, kSizeSets.size()>& attributes, int64_t most_elements);
  void AddOutput(ValueId value);

  DataType TypeOf(ValueId value) const { return builders_[kExact].TypeOf(value).type; }
  SizedShape ShapeOf(ValueId value) const;
  const Graph& graph() const { return builders_[kExact].graph(); }
  std::array<Graph, kSizeSets.size()> Build() &&;

 private:
  std::array<GraphBuilder, kSizeSets.size()> builders_;
};

}  // namespace tunec::fuzz
