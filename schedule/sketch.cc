#include "schedule/sketch.h"

#include <algorithm>
#include <limits>

#include "schedule/access_analysis.h"
#include "schedule/sketches.h"
#include "support/check.h"

namespace tunec {

Decisions Sketch::InitialDecisions() const {
  Decisions decisions;
  for (const Knob& knob : knobs) decisions.push_back(knob.initial);
  return decisions;
}

Schedule Sketch::Fill(const Decisions& decisions) const {
  TUNEC_CHECK(decisions.size() == knobs.size(), "{} decisions for {} knobs", decisions.size(),
              knobs.size());
  std::vector<int64_t> values;
  for (size_t i = 0; i < knobs.size(); ++i) values.push_back(knobs[i].choices.at(decisions[i]));
  return fill(values);
}

int64_t Sketch::SpaceSize() const {
  int64_t size = 1;
  for (const Knob& knob : knobs) {
    if (size > std::numeric_limits<int64_t>::max() / 1024) return size;
    size *= static_cast<int64_t>(knob.choices.size());
  }
  return size;
}

namespace {

// An output of no elements: there is nothing to cut into tiles.
bool HasEmptyLoop(const Compute& compute) {
  return std::ranges::any_of(compute.statements, [](const Statement& statement) {
    return std::ranges::any_of(statement.iterators,
                               [](const Iterator& iterator) { return iterator.extent == 0; });
  });
}

// Whether the Compute's first reduction has one operand, contiguous along what is reduced.
bool ReducesContiguousRows(const Compute& compute) {
  for (const Statement& statement : compute.statements) {
    if (!statement.reducer) continue;
    if (statement.reads.size() != 1 || statement.writes.size() != 1) return false;
    const Read& read = statement.reads[0];
    const auto along = ContiguousIterator(compute, statement, read.tensor, read.index);
    return along && !UsesIterator(statement.writes[0].index, *along);
  }
  return false;
}

Sketch Naive(const std::string& lowering) {
  return {.name = "naive", .fill = [lowering](const std::vector<int64_t>&) {
            return Schedule{.lowering = lowering};
          }};
}

}  // namespace

std::vector<Sketch> SketchesFor(const std::vector<NamedCompute>& lowerings, const Target& target,
                                SketchSet set) {
  TUNEC_CHECK(!lowerings.empty(), "a group without a lowering");
  std::vector<Sketch> sketches;
  if (set == SketchSet::kAll) AddStreamSketches(lowerings, target, sketches);
  // What streams would only be computed in pieces by the others.
  if (set == SketchSet::kAll && sketches.empty()) {
    for (const NamedCompute& lowering : lowerings) {
      if (HasEmptyLoop(lowering.compute)) continue;
      // A sum along contiguous rows reads them as they lie; a tile would have to pack them.
      const bool rows_first = ReducesContiguousRows(lowering.compute);
      if (rows_first) AddRowSketches(lowering, target, sketches);
      AddTileSketches(lowering, target, sketches);
      if (!rows_first) AddRowSketches(lowering, target, sketches);
      AddReduceAllSketches(lowering, target, sketches);
      AddPointwiseSketches(lowering, target, sketches);
      if (sketches.empty()) AddColumnSketches(lowering, target, sketches);
      if (sketches.empty()) AddAffineSketches(lowering, target, sketches);
    }
  }
  sketches.push_back(Naive(lowerings[0].name));
  return sketches;
}

}  // namespace tunec
