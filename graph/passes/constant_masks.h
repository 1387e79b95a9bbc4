// Masks of attention whose elements are known when a model is compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/passes/pass.h"

namespace tunec {

/// The greatest number that counts as -inf under FloatRules::kFast when a mask adds it to a score.
/// Scores are assumed not to reach this magnitude.
inline constexpr double kAsGoodAsMinusInfinity = -1e9;
/// An exponent so low that exp of it, or of a lower one, is 0 in every float type.
inline constexpr double kVanishes = -800;

/// Returns the number of a float constant with one element, else nothing.
std::optional<double> NumberOf(const Graph& graph, ValueId value);

/// The numbers that a mask adds to scores, as matrices [rows, columns] one after the other. A bool
/// mask adds 0 to visible scores and -inf to hidden ones. Equal matrices are stored once.
struct MaskNumbers {
  int64_t rows = 1;
  int64_t columns = 1;
  std::vector<double> numbers;

  /// Returns j - i of the element k, which is in row i and column j of its matrix.
  int64_t Distance(size_t k) const {
    const auto at = static_cast<int64_t>(k);
    return at % columns - at / columns % rows;
  }
};

/// Returns the numbers of a constant, of a `where` between two numbers with a constant condition,
/// or of a `not` of a constant. Constant folding leaves such nodes if their results are large. If
/// `negate`, a bool mask is true for hidden scores. Returns nothing for other masks, and for a mask
/// that is broadcast over the queries or the keys.
std::optional<MaskNumbers> MaskNumbersOf(const Graph& graph, ValueId mask, bool negate,
                                         const Dim& queries, const Dim& keys);

/// The narrowest band that contains all visible scores: score [i, j] is outside unless
/// first <= j - i <= last.
struct Band {
  int64_t first = 0;
  int64_t last = 0;
  bool is_exact = true;  // the mask adds 0 to all scores of the band, and hides all others
  /// The greatest number that hides a score.
  double hidden = 0;
  /// The attribute `window` of the band: 0 if the band hides no score below its diagonal.
  int64_t window = 0;
};

/// Returns the band of the scores to which the mask adds more than `lowest`. Returns nothing if
/// there are no such scores, or if the band has all scores.
std::optional<Band> BandOf(const MaskNumbers& mask, double lowest);

/// Returns whether each row has a score inside the band.
bool EveryRowSees(const Band& band, const Dim& queries, const Dim& keys);

/// Returns a bound of the absolute values of q k^T * scale, for all possible graph inputs. `depth`
/// is the size of a head. Returns infinity if no bound is found.
double LargestScore(const Graph& graph, ValueId q, ValueId k, const Dim& depth, double scale,
                    double softcap);

/// Adds the attention node with a mask that costs less, and returns its value. The operands belong
/// to the builder's graph. A mask that hides all scores outside a band becomes attributes. A mask
/// of equal blocks on the diagonal makes each block a head, and operands are reshaped. Returns
/// nothing if neither holds.
Result<std::optional<ValueId>> AddWithSimplerMask(GraphBuilder& builder, const Node& attention,
                                                  const PassOptions& options);

}  // namespace tunec
