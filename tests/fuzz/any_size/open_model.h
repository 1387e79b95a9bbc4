// A generator of random models: graphs with the named sizes n and m, which are extents of inputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "tests/fuzz/draws.h"

namespace tunec::fuzz {

/// The greatest size of the runs of a random model.
inline constexpr int64_t kGreatestSize = 40;

/// Returns the source of a model of one or two dynamic dimensions, made by 1 to 6 recipes. Its
/// graph_at fails at unsuitable sizes. Its `open` is empty if there is no model, or no suitable
/// example sizes are found.
SizedSource OpenModel(uint64_t seed);

using OpenShape = std::vector<Dim>;

/// A builder of the graph of a random model. All values have the type f32 unless a recipe casts
/// them.
class OpenBuilder : public Draws {
 public:
  /// Requires: one or two dimensions.
  OpenBuilder(uint64_t seed, size_t dimensions);

  Result<Graph> Make() &&;

  Dim AnyDimension();
  /// Returns an input or a result of AddResult with at least `least_rank` axes. This is often the
  /// latest result, else an earlier one or a new input.
  ValueId Operand(int64_t least_rank = 1);
  OpenShape ShapeOf(ValueId value) const { return builder_.TypeOf(value).dims; }
  int64_t RankOf(ValueId value) const { return std::ssize(builder_.TypeOf(value).dims); }
  /// Returns true if a value of this shape has at most 50000 elements at the greatest sizes.
  bool IsSmall(const OpenShape& shape) const;
  ValueId Input(const OpenShape& shape);
  /// Adds a constant with random elements.
  ValueId Weight(const Ints& shape);
  ValueId Scalar(double value);
  /// Adds a vector of `start`, `start + step`, ... before `limit`.
  ValueId Range(const Dim& start, const Dim& limit, int64_t step = 1);
  /// Adds a node. If inference fails, Make also fails. Add then returns the first operand, which
  /// must have all axes that the recipe uses of the result.
  ValueId Add(Op op, const std::vector<ValueId>& inputs, const Attributes& attributes = {});
  /// Adds a node whose result is an operand for later recipes.
  ValueId AddResult(Op op, const std::vector<ValueId>& inputs, const Attributes& attributes = {});

 private:
  void ChooseOutputs();

  size_t dimensions_;
  GraphBuilder builder_{"open"};
  std::vector<ValueId> operands_;
  Status status_;
};

using OpenRecipe = void (*)(OpenBuilder&);
/// Returns the recipes. Each call of a recipe adds at most a few operators. A frequent recipe is
/// listed several times.
std::span<const OpenRecipe> OpenRecipes();

}  // namespace tunec::fuzz
