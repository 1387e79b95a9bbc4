#include "autotune/search/search_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "support/check.h"
#include "support/hash.h"

namespace tunec {

std::map<std::string, std::string> ParseNote(std::string_view note) {
  std::map<std::string, std::string> fields;
  std::string name;
  while (!note.empty()) {
    const size_t end = std::min(note.find(' '), note.size());
    const std::string_view word = note.substr(0, end);
    note.remove_prefix(std::min(end + 1, note.size()));
    const size_t equals = word.find('=');
    name += word.substr(0, equals);
    if (equals == std::string_view::npos) {
      name += ' ';
    } else {
      fields[std::exchange(name, {})] = word.substr(equals + 1);
    }
  }
  return fields;
}

namespace {

// Returns the analytic schedule for the fingerprint, without the storage order of its copies. The
// order follows from the statements that write the copies, so the fingerprint does not need it.
// Without the order, searches that were recorded as converged stay valid.
std::string AnalyticText(const Sketch& sketch) {
  Schedule schedule = sketch.Fill(sketch.InitialDecisions());
  std::erase_if(schedule.loop_steps, [](const LoopStep& step) {
    return std::holds_alternative<StorageOrderStep>(step);
  });
  return Print(schedule);
}

int NearestChoice(const Knob& knob, int64_t value) {
  int nearest = 0;
  for (size_t i = 1; i < knob.choices.size(); ++i) {
    if (std::abs(knob.choices[i] - value) < std::abs(knob.choices[nearest] - value)) {
      nearest = static_cast<int>(i);
    }
  }
  return nearest;
}

}  // namespace

SearchSpace::SearchSpace(std::vector<Sketch> sketches) : sketches_(std::move(sketches)) {
  TUNEC_CHECK(!sketches_.empty(), "a task without sketches");
  for (const Sketch& sketch : sketches_) {
    lowerings_.push_back(sketch.Fill(sketch.InitialDecisions()).lowering);
    std::string name = fmt::format("{}/{}", lowerings_.back(), sketch.name);
    TUNEC_CHECK(std::ranges::find(names_, name) == names_.end(), "two sketches are {}", name);
    names_.push_back(std::move(name));
  }
}

int64_t SearchSpace::Size() const {
  int64_t size = 0;
  for (int s = 0; s < Searched(); ++s) {
    const int64_t own = sketches_[s].SpaceSize();
    if (own > std::numeric_limits<int64_t>::max() - size) {
      return std::numeric_limits<int64_t>::max();
    }
    size += own;
  }
  return size;
}

// Returns the sketch's name for the fingerprint. Tiles after the first sketch are numbered by
// position, as in earlier versions, so that searches recorded as converged stay valid.
std::string SearchSpace::NumberedName(int sketch) const {
  const std::string_view kind = sketches_[sketch].Kind();
  const bool numbered = kind == "tile" && sketch > 0;
  return fmt::format("{}/{}{}", lowerings_[sketch], kind,
                     numbered ? std::to_string(sketch + 1) : "");
}

int64_t SearchSpace::Fingerprint() const {
  std::string text;
  for (int s = 0; s < Searched(); ++s) {
    text += NumberedName(s);
    for (const Knob& knob : sketches_[s].knobs) {
      text += fmt::format(" {}={}", knob.name, fmt::join(knob.choices, ","));
    }
    text += fmt::format("\n{}\n", AnalyticText(sketches_[s]));
  }
  constexpr size_t kDigits = 15;  // hexadecimal digits that fit in a positive int64_t
  const std::string digits = StableHash(text).substr(0, kDigits);
  int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return std::max<int64_t>(number, 1);
}

Candidate SearchSpace::At(int sketch, Decisions decisions) const {
  std::string text = Print(sketches_[sketch].Fill(decisions));
  return {.sketch = sketch, .decisions = std::move(decisions), .schedule = std::move(text)};
}

Candidate SearchSpace::Initial(int sketch) const {
  Candidate candidate = At(sketch, sketches_[sketch].InitialDecisions());
  candidate.origin = "analytic";
  return candidate;
}

std::string SearchSpace::Describe(const Candidate& candidate) const {
  std::string text = "sketch=" + names_[candidate.sketch];
  const Sketch& sketch = sketches_[candidate.sketch];
  for (size_t k = 0; k < sketch.knobs.size(); ++k) {
    const Knob& knob = sketch.knobs[k];
    text += fmt::format(" {}={}", knob.name, knob.choices[candidate.decisions[k]]);
  }
  return text;
}

std::optional<Candidate> SearchSpace::Transfer(std::string_view note) const {
  const auto fields = ParseNote(note);
  const auto named = fields.find("sketch");
  if (named == fields.end()) return std::nullopt;
  const auto found = std::ranges::find(names_, named->second);
  if (found == names_.end()) return std::nullopt;
  const int s = static_cast<int>(found - names_.begin());
  Decisions decisions = sketches_[s].InitialDecisions();
  for (size_t k = 0; k < decisions.size(); ++k) {
    const Knob& knob = sketches_[s].knobs[k];
    const auto field = fields.find(knob.name);
    if (field == fields.end()) continue;
    const std::string& text = field->second;
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc()) decisions[k] = NearestChoice(knob, value);
  }
  Candidate candidate = At(s, std::move(decisions));
  candidate.origin = "transfer";
  return candidate;
}

std::optional<Candidate> SearchSpace::Recall(std::string_view note,
                                             const std::string& schedule) const {
  std::optional<Candidate> candidate = Transfer(note);
  if (!candidate || candidate->schedule != schedule) return std::nullopt;
  candidate->origin = "recorded";
  return candidate;
}

}  // namespace tunec
