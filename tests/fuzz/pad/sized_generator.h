// A generator of random models at several sets of sizes. A seed draws one to three dimensions, and
// one model over them. Each drawn node is added to the graphs of all sizes, with attributes and
// constants for the shapes of each graph.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tests/fuzz/draws.h"
#include "tests/fuzz/pad/sized_model.h"

namespace tunec::fuzz {

/// The value that a recipe returns: the first result of the last added node, or empty if the draw
/// does not fit.
using Drawn = std::optional<ValueId>;
using AttributesAt = std::function<Attributes(SizeSet)>;
/// A function that returns the element of a constant at an index, for one set of sizes.
using ElementAt = std::function<double(const Ints& position, SizeSet)>;

class SizedGenerator : public Draws {
 public:
  explicit SizedGenerator(uint64_t seed);

  /// Makes a model of about 1 to 14 nodes, not counting the leaves.
  SizedModel Make() &&;

  /// Returns one of the drawn dimensions, or a small size that is equal in all graphs.
  AxisSizes Axis();
  AxisSizes Dimension() { return dimensions_[Below(std::ssize(dimensions_))]; }
  SizedShape Shape(int64_t least_rank, int64_t most_rank);

  /// Returns an existing value or a new leaf, with a type in the domain and a rank in the range.
  ValueId Operand(Domain domain, int64_t least_rank = 0, int64_t most_rank = 4);
  /// Returns a value of exactly this type that can be broadcast with `shape` to a common shape.
  ValueId Partner(DataType type, const SizedShape& shape);
  /// Returns a value of exactly this type that broadcasts to `shape`.
  ValueId BroadcastingTo(DataType type, const SizedShape& shape);
  ValueId OfType(DataType type, const SizedShape& shape);  // an existing value or a leaf
  ValueId Leaf(DataType type, const SizedShape& shape);    // a new input or constant
  /// Adds an input of `shape`, or an input and a reshape that joins dimensions to get `shape`. The
  /// name begins with `prefix`, on which the elements from InputsOf depend.
  ValueId Input(DataType type, const SizedShape& shape, const char* prefix = "x");
  ValueId Constant(DataType type, const SizedShape& shape, const ElementAt& element);
  /// Adds a constant with random elements, which are the same at equal positions for all sizes.
  ValueId Table(DataType type, const SizedShape& shape, Values values = Values::kOrdinary);
  ValueId Scalar(DataType type, double value) { return SizedScalar(type, {value, value, value}); }
  /// Adds a constant with one element, which may differ between the sets of sizes.
  ValueId SizedScalar(DataType type, const std::array<double, kSizeSets.size()>& values);
  ValueId Parameter(DataType type, const SizedShape& shape);  // mostly a constant

  DataType TypeOf(ValueId value) const { return builder_.TypeOf(value); }
  SizedShape ShapeOf(ValueId value) const { return builder_.ShapeOf(value); }
  int64_t RankOf(ValueId value) const { return std::ssize(builder_.ShapeOf(value)); }
  int64_t AnyAxis(ValueId value) { return Below(RankOf(value)); }

  /// Adds the node to all graphs if SizedBuilder::Add accepts it. Returns its first result, or no
  /// value.
  Drawn Try(Op op, const std::vector<ValueId>& inputs, const Attributes& attributes = {});
  Drawn TryAt(Op op, const std::vector<ValueId>& inputs, const AttributesAt& attributes);
  Drawn Reshape(ValueId value, const SizedShape& shape);

 private:
  void Step();
  void DrawDimensions();
  void ChooseOutputs();
  ValueId Recent();
  bool IsDimension(const AxisSizes& sizes) const;
  std::optional<SizedShape> Factors(const AxisSizes& sizes);
  std::string LeafName(const char* prefix);

  SizedBuilder builder_;
  std::vector<AxisSizes> dimensions_;
  std::vector<ValueId> known_;
  int nodes_ = 0;
  int leaves_ = 0;
};

/// A function that adds nodes to a model, and its relative frequency.
struct SizedRecipe {
  Drawn (*draw)(SizedGenerator&) = nullptr;
  int weight = 1;
};

// Each family of recipes has a file sized_*.cc.
std::span<const SizedRecipe> SizedElementwise();
std::span<const SizedRecipe> SizedReductions();
std::span<const SizedRecipe> SizedContractions();
std::span<const SizedRecipe> SizedMovements();
std::span<const SizedRecipe> SizedImages();
/// Returns recipes that add several nodes in patterns of real models.
std::span<const SizedRecipe> SizedPhrases();

}  // namespace tunec::fuzz
