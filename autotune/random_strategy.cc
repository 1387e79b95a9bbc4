#include <utility>

#include "autotune/proposals.h"
#include "autotune/strategy.h"

namespace tunec {
namespace {

// The number-th decisions of all searched sketches, in mixed radix.
Candidate Numbered(const SearchSpace& space, int64_t number) {
  int sketch = 0;
  while (number >= space.sketches()[sketch].SpaceSize()) {
    number -= space.sketches()[sketch++].SpaceSize();
  }
  Decisions decisions;
  for (const Knob& knob : space.sketches()[sketch].knobs) {
    const auto radix = static_cast<int64_t>(knob.choices.size());
    decisions.push_back(static_cast<int>(number % radix));
    number /= radix;
  }
  return space.At(sketch, std::move(decisions));
}

Candidate Drawn(const SearchSpace& space, Random& random) {
  // Half of the draws go to the first sketch, the most promising.
  const auto searched = static_cast<uint64_t>(space.Searched());
  const int sketch = random.Below(2) == 0 ? 0 : static_cast<int>(random.Below(searched));
  Decisions decisions;
  for (const Knob& knob : space.sketches()[sketch].knobs) {
    decisions.push_back(static_cast<int>(random.Below(knob.choices.size())));
  }
  return space.At(sketch, std::move(decisions));
}

class RandomStrategy : public Strategy {
 public:
  std::vector<Candidate> Propose(const SearchSpace& space, const History& history, int count,
                                 Random& random) const override {
    Proposals proposals(history, count);
    if (space.Size() <= kEnumerated) {
      // All of them in random order.
      std::vector<int64_t> numbers;
      for (int64_t n = 0; n < space.Size(); ++n) numbers.push_back(n);
      for (size_t i = 0; i < numbers.size() && !proposals.Full(); ++i) {
        std::swap(numbers[i], numbers[i + random.Below(numbers.size() - i)]);
        proposals.Offer(Numbered(space, numbers[i]), "random");
      }
      return proposals.Take();
    }
    constexpr int kTriesPerCandidate = 100;
    for (int t = 0; t < kTriesPerCandidate * count && !proposals.Full(); ++t) {
      proposals.Offer(Drawn(space, random), "random");
    }
    return proposals.Take();
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeRandomStrategy() { return std::make_unique<RandomStrategy>(); }

}  // namespace tunec
