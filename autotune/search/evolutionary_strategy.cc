#include <algorithm>
#include <utility>

#include "autotune/search/proposals.h"
#include "autotune/search/strategy.h"

namespace tunec {
namespace {

constexpr size_t kParents = 8;
constexpr uint64_t kRandomPercent = 10;
constexpr uint64_t kCrossoverPercent = 30;
constexpr uint64_t kJumpPercent = 25;  // share of mutations that move a knob to any choice

bool Chance(Random& random, uint64_t percent) { return random.Below(100) < percent; }

// Moves a random knob by one step, or draws its choice. Knobs with a single choice do not change.
void Mutate(const Sketch& sketch, Decisions& decisions, Random& random) {
  std::vector<size_t> free;
  for (size_t k = 0; k < sketch.knobs.size(); ++k) {
    if (sketch.knobs[k].choices.size() > 1) free.push_back(k);
  }
  if (free.empty()) return;
  const size_t k = free[random.Below(free.size())];
  const int last = static_cast<int>(sketch.knobs[k].choices.size()) - 1;
  if (Chance(random, kJumpPercent)) {
    decisions[k] = static_cast<int>(random.Below(last + 1));
  } else {
    const int step = random.Below(2) == 0 ? -1 : 1;
    const int moved = decisions[k] + step;
    decisions[k] = moved < 0 || moved > last ? decisions[k] - step : moved;
  }
}

class EvolutionaryStrategy : public Strategy {
 public:
  std::vector<Candidate> Propose(const SearchSpace& space, const History& history, int count,
                                 Random& random) const override {
    std::vector<TriedCandidate> parents = history.Ranked();
    if (parents.size() > kParents) parents.resize(kParents);
    const auto anywhere = MakeRandomStrategy();
    if (parents.empty()) return anywhere->Propose(space, history, count, random);
    Proposals proposals(history, count);
    constexpr int kTriesPerCandidate = 30;
    for (int t = 0; t < kTriesPerCandidate * count && !proposals.IsFull(); ++t) {
      if (Chance(random, kRandomPercent)) {
        for (Candidate& one : anywhere->Propose(space, history, 1, random)) {
          proposals.Offer(std::move(one), "random");
        }
        continue;
      }
      proposals.Offer(Child(space, parents, random), "evolve");
    }
    return proposals.Take();
  }

 private:
  // Returns the faster of two parents drawn at random.
  static const Candidate& Parent(const std::vector<TriedCandidate>& parents, Random& random) {
    const uint64_t a = random.Below(parents.size());
    const uint64_t b = random.Below(parents.size());
    return *parents[std::min(a, b)].candidate;
  }

  static Candidate Child(const SearchSpace& space, const std::vector<TriedCandidate>& parents,
                         Random& random) {
    const Candidate& mother = Parent(parents, random);
    const Candidate& father = Parent(parents, random);
    Decisions decisions = mother.decisions;
    if (father.sketch == mother.sketch && Chance(random, kCrossoverPercent)) {
      for (size_t k = 0; k < decisions.size(); ++k) {
        if (random.Below(2) == 0) decisions[k] = father.decisions[k];
      }
    }
    const Sketch& sketch = space.sketches()[mother.sketch];
    const uint64_t mutations = 1 + random.Below(2);
    for (uint64_t m = 0; m < mutations; ++m) Mutate(sketch, decisions, random);
    return space.At(mother.sketch, std::move(decisions));
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeEvolutionaryStrategy() {
  return std::make_unique<EvolutionaryStrategy>();
}

}  // namespace tunec
