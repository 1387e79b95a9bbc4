#include <numeric>
#include <utility>
#include <vector>

#include "autotune/search/proposals.h"
#include "autotune/search/strategy.h"

namespace tunec {
namespace {

// Returns the positions of the searched sketches that are not hopeless.
std::vector<int> LiveSketches(const SearchSpace& space, const History& history) {
  std::vector<int> live;
  for (int s = 0; s < space.Searched(); ++s) {
    if (!history.IsHopeless(s)) live.push_back(s);
  }
  return live;
}

// Returns candidate `number` of the live sketches. The numbers of one sketch follow those of the
// previous one. Within a sketch, the decisions are the digits of a number in mixed radix.
Candidate Numbered(const SearchSpace& space, const std::vector<int>& live, int64_t number) {
  size_t at = 0;
  while (number >= space.sketches()[live[at]].SpaceSize()) {
    number -= space.sketches()[live[at++]].SpaceSize();
  }
  Decisions decisions;
  for (const Knob& knob : space.sketches()[live[at]].knobs) {
    const auto radix = static_cast<int64_t>(knob.choices.size());
    decisions.push_back(static_cast<int>(number % radix));
    number /= radix;
  }
  return space.At(live[at], std::move(decisions));
}

Candidate Drawn(const SearchSpace& space, const std::vector<int>& live, Random& random) {
  // Half of the draws use the first live sketch, the most promising; the others use any live one.
  const int sketch = random.Below(2) == 0 ? live[0] : live[random.Below(live.size())];
  Decisions decisions;
  for (const Knob& knob : space.sketches()[sketch].knobs) {
    decisions.push_back(static_cast<int>(random.Below(knob.choices.size())));
  }
  return space.At(sketch, std::move(decisions));
}

// Offers the candidates of the live sketches in random order until the proposals are full. `size`
// is the number of these candidates.
void OfferAll(const SearchSpace& space, const std::vector<int>& live, int64_t size,
              Proposals& proposals, Random& random) {
  std::vector<int64_t> numbers(static_cast<size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (size_t i = 0; i < numbers.size() && !proposals.IsFull(); ++i) {
    std::swap(numbers[i], numbers[i + random.Below(numbers.size() - i)]);
    proposals.Offer(Numbered(space, live, numbers[i]), "random");
  }
}

class RandomStrategy : public Strategy {
 public:
  std::vector<Candidate> Propose(const SearchSpace& space, const History& history, int count,
                                 Random& random) const override {
    Proposals proposals(history, count);
    const std::vector<int> live = LiveSketches(space, history);
    // The list is empty only if the best schedule is of no searched sketch: otherwise the sketch of
    // the best schedule is live.
    if (live.empty()) return {};
    if (space.Size() <= kEnumerated) {
      int64_t size = 0;
      for (const int s : live) size += space.sketches()[s].SpaceSize();
      OfferAll(space, live, size, proposals, random);
      return proposals.Take();
    }
    constexpr int kTriesPerCandidate = 100;
    for (int t = 0; t < kTriesPerCandidate * count && !proposals.IsFull(); ++t) {
      proposals.Offer(Drawn(space, live, random), "random");
    }
    return proposals.Take();
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeRandomStrategy() { return std::make_unique<RandomStrategy>(); }

}  // namespace tunec
