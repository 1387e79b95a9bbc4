// Knobs that know what they decide: each is bound to a field of the struct of choices that a
// sketch's schedule is written from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/sketch.h"
#include "support/check.h"

namespace tunec {

/// A knob that begins with `initial`, which is one of its choices even where it is not listed.
Knob KnobAt(std::string name, std::vector<int64_t> choices, int64_t initial);

template <class Choice>
class Knobs {
 public:
  /// `fixed` holds what no knob decides.
  explicit Knobs(Choice fixed = {}) : fixed_(std::move(fixed)) {}

  void Add(Knob knob, int64_t Choice::*field) {
    Add(std::move(knob), [field](Choice& choice, int64_t value) { choice.*field = value; });
  }
  /// A choice among 0 and 1.
  void Add(Knob knob, bool Choice::*field) {
    Add(std::move(knob), [field](Choice& choice, int64_t value) { choice.*field = value != 0; });
  }
  void Add(Knob knob, std::function<void(Choice&, int64_t)> decide) {
    list_.push_back(std::move(knob));
    decide_.push_back(std::move(decide));
  }

  /// A knob that begins with what the fixed choice has.
  void AddAround(std::string name, std::vector<int64_t> choices, int64_t Choice::*field) {
    Add(KnobAt(std::move(name), std::move(choices), fixed_.*field), field);
  }

  const std::vector<Knob>& list() const { return list_; }

  /// One value for each knob, in their order.
  Choice Choose(const std::vector<int64_t>& values) const {
    TUNEC_CHECK(values.size() == decide_.size(), "{} values for {} knobs", values.size(),
                decide_.size());
    Choice choice = fixed_;
    for (size_t i = 0; i < values.size(); ++i) decide_[i](choice, values[i]);
    return choice;
  }

 private:
  Choice fixed_;
  std::vector<Knob> list_;
  std::vector<std::function<void(Choice&, int64_t)>> decide_;
};

/// The sketch with these knobs whose schedule `write` makes of a Choice. `write` is pure.
template <class Choice, class Write>
Sketch MakeSketch(const std::string& name, Knobs<Choice> knobs, Write write) {
  std::vector<Knob> list = knobs.list();
  return {.name = name,
          .knobs = std::move(list),
          .fill = [knobs = std::move(knobs), write = std::move(write)](
                      const std::vector<int64_t>& values) { return write(knobs.Choose(values)); }};
}

}  // namespace tunec
