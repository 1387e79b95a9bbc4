#include <algorithm>
#include <utility>

#include "autotune/search/proposals.h"
#include "autotune/search/strategy.h"

namespace tunec {
namespace {

constexpr size_t kStarts = 3;

class CoordinateDescent : public Strategy {
 public:
  std::vector<Candidate> Propose(const SearchSpace& space, const History& history, int count,
                                 Random& random) const override {
    Proposals proposals(history, count);
    const std::vector<TriedCandidate> ranked = history.Ranked();
    for (size_t i = 0; i < std::min(ranked.size(), kStarts) && !proposals.IsFull(); ++i) {
      std::vector<Candidate> around = Neighbours(space, *ranked[i].candidate);
      // The neighbours are shuffled: a batch may hold only a part of them, and the first knobs must
      // not always be favoured.
      for (size_t n = 0; n < around.size() && !proposals.IsFull(); ++n) {
        std::swap(around[n], around[n + random.Below(around.size() - n)]);
        proposals.Offer(std::move(around[n]), "descend");
      }
    }
    return proposals.Take();
  }

 private:
  static std::vector<Candidate> Neighbours(const SearchSpace& space, const Candidate& centre) {
    std::vector<Candidate> around;
    const Sketch& sketch = space.sketches()[centre.sketch];
    for (size_t k = 0; k < sketch.knobs.size(); ++k) {
      for (const int step : {-1, 1}) {
        Decisions decisions = centre.decisions;
        decisions[k] += step;
        const auto choices = static_cast<int>(sketch.knobs[k].choices.size());
        if (decisions[k] < 0 || decisions[k] >= choices) continue;
        around.push_back(space.At(centre.sketch, std::move(decisions)));
      }
    }
    return around;
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeCoordinateDescent() { return std::make_unique<CoordinateDescent>(); }

}  // namespace tunec
