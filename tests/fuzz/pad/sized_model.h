// One model at several sets of sizes: the same nodes in the same order, as a front end makes them
// of one file.
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

/// The first is padded to the second; so is the third, which is to give the same padded graph.
enum SizeSet : uint8_t { kExact, kBucket, kOther };
inline constexpr std::array<SizeSet, 3> kSizeSets = {kExact, kBucket, kOther};

/// An axis: its size in each of the graphs.
using Sizes = std::array<int64_t, kSizeSets.size()>;
using SizedShape = std::vector<Sizes>;
inline Sizes Fixed(int64_t size) { return {size, size, size}; }
inline bool IsFixed(const Sizes& sizes) {
  return sizes[kExact] == sizes[kBucket] && sizes[kExact] == sizes[kOther];
}
std::vector<int64_t> ShapeAt(const SizedShape& shape, SizeSet set);

struct SizedModel {
  std::array<Graph, kSizeSets.size()> graphs;
  Values values = Values::kOrdinary;
};

SizedShape ShapeOf(const SizedModel& model, ValueId value);

/// The axes of inputs whose size is not the same everywhere. Axes of equal sizes are of one
/// dimension.
std::vector<OpenAxis> OpenAxes(const SizedModel& model);

/// Builds the graphs in lockstep: values and nodes have the same numbers in each.
class SizedBuilder {
 public:
  SizedBuilder()
      : builders_{GraphBuilder("exact"), GraphBuilder("bucket"), GraphBuilder("other")} {}

  ValueId AddInput(const std::string& name, DataType type, const SizedShape& shape);
  ValueId AddConstant(const std::string& name, const std::array<Array, kSizeSets.size()>& arrays);
  /// The results, or nothing when the inference of types refuses the node somewhere, or results
  /// have more than `most_elements`, are empty, or shrink with larger sizes.
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
