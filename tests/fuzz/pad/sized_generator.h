// A generator of random models with named sizes. A seed draws one to three named dimensions with
// their sizes, and one model over them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/fuzz/draws.h"
#include "tests/fuzz/pad/sized_model.h"

namespace tunec::fuzz {

/// The value that a recipe returns: the first result of the last added node, or empty if the draw
/// does not fit.
using Drawn = std::optional<ValueId>;
/// A function that returns the element of a constant at an index.
using ElementAt = std::function<double(const Ints& position)>;

class SizedGenerator : public Draws {
 public:
  explicit SizedGenerator(uint64_t seed);

  /// Makes a model of about 1 to 14 nodes, not counting the leaves.
  SizedModel Make() &&;

  /// Returns one of the drawn dimensions, or a small number.
  Dim Axis();
  Dim Dimension() { return dimensions_[Below(std::ssize(dimensions_))]; }
  SizedShape Shape(int64_t least_rank, int64_t most_rank);
  int64_t At(const Dim& size, SizeSet set) const;  // 0 for an unknown size
  int64_t Least(const Dim& size) const;            // the smallest number at all sets of sizes
  int64_t Most(const Dim& size) const;
  int64_t BucketElements(const SizedShape& shape) const;
  /// Returns true if the factor divides the size at all sets of sizes.
  bool Divides(const Dim& factor, const Dim& size) const;

  /// Returns an existing value or a new leaf, with a type in the domain and a rank in the range.
  ValueId Operand(Domain domain, int64_t least_rank = 0, int64_t most_rank = 4);
  /// Returns a value of exactly this type that can be broadcast with `shape` to a common shape.
  ValueId Partner(DataType type, const SizedShape& shape);
  /// Returns a value of exactly this type that broadcasts to `shape`.
  ValueId BroadcastingTo(DataType type, const SizedShape& shape);
  ValueId OfType(DataType type, const SizedShape& shape);  // an existing value or a leaf
  /// Adds an input, a constant, or nodes that depend only on sizes.
  ValueId Leaf(DataType type, const SizedShape& shape);
  /// Adds an input of `shape`, or an input and a reshape that joins dimensions to get `shape`. The
  /// name begins with `prefix`, on which the elements from InputsOf depend.
  ValueId Input(DataType type, const SizedShape& shape, const char* prefix = "x");
  /// Adds a constant. If `shape` has names, adds a constant of the largest sizes and a slice.
  ValueId Constant(DataType type, const SizedShape& shape, const ElementAt& element);
  /// Adds a constant with random elements in the same way.
  ValueId Table(DataType type, const SizedShape& shape, Values values = Values::kOrdinary);
  ValueId Scalar(DataType type, double value);
  /// Adds nodes that compute a size as a scalar, or as a vector of one element.
  ValueId SizedScalar(DataType type, const Dim& size);
  /// Adds nodes that compute a value of this shape, in which each element is `size`.
  ValueId Filled(DataType type, const SizedShape& shape, const Dim& size);
  /// Adds nodes that count along one axis: start, start + step, ... at each position of the others.
  ValueId Counted(DataType type, const SizedShape& shape, int64_t axis, const Dim& start,
                  int64_t step);
  ValueId Parameter(DataType type, const SizedShape& shape);  // mostly a constant

  DataType TypeOf(ValueId value) const { return builder_.TypeOf(value).type; }
  SizedShape ShapeOf(ValueId value) const { return builder_.TypeOf(value).dims; }
  int64_t RankOf(ValueId value) const { return std::ssize(builder_.TypeOf(value).dims); }
  int64_t AnyAxis(ValueId value) { return Below(RankOf(value)); }

  /// Adds the node if SizedBuilder::Add accepts it. Returns its first result, or no value.
  Drawn Try(Op op, const std::vector<ValueId>& inputs, const Attributes& attributes = {});
  Drawn Reshape(ValueId value, const SizedShape& shape);

 private:
  void Step();
  void DrawDimensions();
  void ChooseOutputs();
  ValueId Recent();
  bool IsDimension(const Dim& size) const;
  std::optional<SizedShape> Factors(const Dim& size);
  std::string LeafName(const char* prefix);
  ValueId AddLeaf(ValueId leaf);
  /// Adds a node that no other recipe uses, and that does not count.
  Drawn Hidden(Op op, const std::vector<ValueId>& inputs, const Attributes& attributes);
  Drawn HiddenRange(DataType type, const Dim& start, const Dim& count, int64_t step);
  ValueId Sliced(const Array& largest, const SizedShape& shape);
  ValueId OrInput(const Drawn& value, DataType type, const SizedShape& shape);

  SizedBuilder builder_;
  std::vector<Dim> dimensions_;
  std::vector<ValueId> known_;
  std::set<ValueId> leaves_;
  int nodes_ = 0;
  int names_ = 0;
};

/// Returns the attributes of a range of `count` numbers.
Attributes RangeAttributes(DataType type, const Dim& start, const Dim& count, int64_t step);

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
