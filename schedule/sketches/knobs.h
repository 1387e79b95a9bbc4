// Knobs that set the fields of a struct of choices, such as TileChoice (tile_writer.h). A sketch
// writes its schedule from this struct.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/sketch.h"
#include "support/check.h"

namespace tunec {

/// Returns a knob whose initial choice is `initial`. Adds `initial` to the choices if necessary,
/// and sorts them.
Knob KnobAt(std::string name, std::vector<int64_t> choices, int64_t initial);

template <class Choice>
class Knobs {
 public:
  /// Makes an empty list. `fixed` has the values of fields without a knob, and the initial choices
  /// for AddAround.
  explicit Knobs(Choice fixed = {}) : fixed_(std::move(fixed)) {}

  void Add(Knob knob, int64_t Choice::*field) {
    Add(std::move(knob), [field](Choice& choice, int64_t value) { choice.*field = value; });
  }
  /// Adds a knob for a bool field. The choice 0 means false, any other choice means true.
  void Add(Knob knob, bool Choice::*field) {
    Add(std::move(knob), [field](Choice& choice, int64_t value) { choice.*field = value != 0; });
  }
  void Add(Knob knob, std::function<void(Choice&, int64_t)> decide) {
    list_.push_back(std::move(knob));
    decide_.push_back(std::move(decide));
  }

  /// Adds a knob whose initial choice is the field's value in `fixed` (KnobAt).
  void AddAround(std::string name, std::vector<int64_t> choices, int64_t Choice::*field) {
    Add(KnobAt(std::move(name), std::move(choices), fixed_.*field), field);
  }

  const std::vector<Knob>& list() const { return list_; }

  /// Returns the Choice for these values. There is one value for each knob, in the order in which
  /// the knobs were added.
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

/// Returns a sketch with these knobs. `write` returns the schedule for a Choice, and must be pure.
template <class Choice, class Write>
Sketch MakeSketch(const std::string& name, Knobs<Choice> knobs, Write write) {
  std::vector<Knob> list = knobs.list();
  return {.name = name,
          .knobs = std::move(list),
          .fill = [knobs = std::move(knobs), write = std::move(write)](
                      const std::vector<int64_t>& values) { return write(knobs.Choose(values)); }};
}

}  // namespace tunec
