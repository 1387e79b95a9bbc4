// Search strategies: which candidates of a space to try next, given what is known.
#pragma once

#include <memory>
#include <vector>

#include "autotune/search/history.h"
#include "autotune/search/search_space.h"
#include "support/random.h"

namespace tunec {

/// Stateless: equal space, history and random state give equal proposals.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// At most `count` different candidates that the history has not seen, the most promising
  /// first. Fewer, even none, when the strategy finds no more.
  virtual std::vector<Candidate> Propose(const SearchSpace& space, const History& history,
                                         int count, Random& random) const = 0;
};

/// Uniform over the decisions of the searched sketches that are not hopeless. None exactly when
/// none is left, in spaces of at most kEnumerated decisions; in larger ones it gives up after many
/// misses.
std::unique_ptr<Strategy> MakeRandomStrategy();
inline constexpr int64_t kEnumerated = 512;

/// Children of the fastest: crossover and small mutations of decisions, about a tenth random.
std::unique_ptr<Strategy> MakeEvolutionaryStrategy();

/// The neighbours, one knob one step away, of the fastest, then of the next fastest.
std::unique_ptr<Strategy> MakeCoordinateDescent();

}  // namespace tunec
