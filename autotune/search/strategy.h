// Search strategies, which use the history to propose the next candidates of a space.
#pragma once

#include <memory>
#include <vector>

#include "autotune/search/history.h"
#include "autotune/search/search_space.h"
#include "support/random.h"

namespace tunec {

/// A stateless search strategy: equal arguments give equal proposals.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Returns at most `count` different candidates that are not in the history. The list is shorter
  /// or empty if the strategy finds no more.
  virtual std::vector<Candidate> Propose(const SearchSpace& space, const History& history,
                                         int count, Random& random) const = 0;
};

/// Makes a strategy that draws candidates of the searched sketches that are not hopeless
/// (History::IsHopeless). In spaces of at most kEnumerated candidates, all untried candidates of
/// these sketches have the same chance, and the result is empty exactly if there is none. In larger
/// spaces, half of the draws use the first of these sketches, the others any of them. Decisions are
/// drawn uniformly, and the strategy gives up after many draws of known candidates.
std::unique_ptr<Strategy> MakeRandomStrategy();
inline constexpr int64_t kEnumerated = 512;

/// Makes a strategy that proposes children of the eight fastest candidates: mutations of decisions,
/// sometimes after a crossover. About a tenth of the draws are random, and all of them while no
/// candidate is correct.
std::unique_ptr<Strategy> MakeEvolutionaryStrategy();

/// Makes a strategy that proposes the neighbours of the three fastest candidates, those of the
/// fastest first. A neighbour differs by one step of one knob.
std::unique_ptr<Strategy> MakeCoordinateDescent();

}  // namespace tunec
