#include "schedule/sketch.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "schedule/access_analysis.h"
#include "schedule/apply.h"
#include "schedule/sketches/device_phase.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/transformed_plan.h"
#include "support/check.h"

namespace tunec {

std::string_view Sketch::Kind() const { return std::string_view(name).substr(0, name.find('/')); }

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

const Compute* FindLowering(const std::vector<NamedCompute>& lowerings, std::string_view name) {
  const auto found = std::ranges::find(lowerings, name, &NamedCompute::name);
  return found == lowerings.end() ? nullptr : &found->compute;
}

namespace {

// Checks that the Compute has a loop without iterations. Most sketches skip such a Compute.
bool HasEmptyLoop(const Compute& compute) {
  return std::ranges::any_of(compute.statements, [](const Statement& statement) {
    return std::ranges::any_of(statement.iterators,
                               [](const Iterator& iterator) { return iterator.extent == 0; });
  });
}

// Checks that an operand is contiguous along a reduced iterator. If the reduction has several
// operands, this one must not be constant, its indices must be iterators or constants, and each of
// its elements must be read once.
bool IsContiguousRow(const Compute& compute, const Statement& reduction, const Read& read) {
  const auto along = ContiguousIterator(compute, reduction, read.tensor, read.index);
  if (!along || UsesIterator(reduction.writes[0].index, *along)) return false;
  if (reduction.reads.size() == 1) return true;
  const bool plain = std::ranges::all_of(
      read.index, [](const IndexExpr& i) { return i.AsVar() || i.IsConstant(); });
  return plain && !compute.tensors[read.tensor].constant && ReadsPerElement(reduction, read) == 1;
}

const Statement* FirstReduction(const Compute& compute) {
  const auto found = std::ranges::find_if(
      compute.statements, [](const Statement& statement) { return statement.reducer.has_value(); });
  return found == compute.statements.end() ? nullptr : &*found;
}

// Checks that IsContiguousRow accepts some operand of the Compute's first reduction.
bool ReducesContiguousRows(const Compute& compute) {
  const Statement* const reduction = FirstReduction(compute);
  return reduction != nullptr && std::ranges::any_of(reduction->reads, [&](const Read& read) {
           return IsContiguousRow(compute, *reduction, read);
         });
}

Sketch Naive(const std::string& lowering) {
  return {.name = "naive", .fill = [lowering](const std::vector<int64_t>&) {
            return Schedule{.lowering = lowering};
          }};
}

// Checks that a statement of the Compute writes an output.
bool WritesOutput(const Compute& compute) {
  return std::ranges::any_of(compute.statements, [&](const Statement& statement) {
    return std::ranges::any_of(statement.writes, [&](const Write& write) {
      return compute.tensors[write.tensor].role == TensorRole::kOutput;
    });
  });
}

// Returns the sketches for a device; empty for all stages except kPatterns.
std::vector<Sketch> SketchesOfDevice(SketchStage stage, const SketchQuestion& question) {
  std::vector<Sketch> sketches;
  if (stage != SketchStage::kPatterns) return sketches;
  std::vector<NamedCompute> lowerings;
  for (const NamedCompute& lowering : question.lowerings)
    if (!HasEmptyLoop(lowering.compute) && !HasTransforms(lowering.compute))
      lowerings.push_back(lowering);
  for (const NamedCompute& lowering : lowerings)
    if (ReducesContiguousRows(lowering.compute)) {
      AddCudaRowSketches(lowering, *question.target.device, question.rounding, sketches);
    }
  AddCudaSketches(lowerings, *question.target.device, question.rounding, sketches);
  const bool has_others = !sketches.empty();
  for (const NamedCompute& lowering : lowerings) {
    // A single thread is slow at a long chain of terms, and less accurate than several threads.
    const bool is_long = std::ranges::any_of(lowering.compute.statements, HasLongChain);
    if (!has_others || !is_long) AddBlockSketches(lowering, question.rounding, sketches);
  }
  return sketches;
}

}  // namespace

void AddPatternSketches(const NamedCompute& lowering, const SketchQuestion& question,
                        std::vector<Sketch>& sketches) {
  const Target& target = question.target;
  if (!WritesOutput(lowering.compute)) return;
  // A reduction along contiguous rows can read the rows directly; a tile would have to pack them.
  const Statement* const reduction = FirstReduction(lowering.compute);
  const bool rows_first = reduction != nullptr && reduction->writes.size() == 1 &&
                          ReducesContiguousRows(lowering.compute);
  if (rows_first) AddRowSketches(lowering, question, sketches);
  const size_t first_tile = sketches.size();
  AddTileSketches(lowering, question, sketches);
  AddSweepSketches(lowering, question, first_tile, sketches);
  if (!rows_first) AddRowSketches(lowering, question, sketches);
  AddReduceAllSketches(lowering, target, sketches);
  AddPointwiseSketches(lowering, target, sketches);
  if (!sketches.empty()) return;
  AddColumnSketches(lowering, target, sketches);
  AddAbreastSketches(lowering, target, sketches);
}

std::vector<Sketch> SketchesOf(SketchStage stage, const SketchQuestion& question) {
  const std::vector<NamedCompute>& lowerings = question.lowerings;
  const Target& target = question.target;
  TUNEC_CHECK(!lowerings.empty(), "a group without a lowering");
  if (stage == SketchStage::kNaive) return {Naive(lowerings[0].name)};
  if (target.device) return SketchesOfDevice(stage, question);
  std::vector<Sketch> sketches;
  if (stage == SketchStage::kPatterns) AddStreamSketches(question, sketches);
  // Other sketches would split flash attention into separate nests.
  if (!sketches.empty()) return sketches;
  for (const NamedCompute& lowering : lowerings) {
    if (HasEmptyLoop(lowering.compute) || HasTransforms(lowering.compute)) continue;
    if (stage == SketchStage::kPatterns) {
      AddPatternSketches(lowering, question, sketches);
    } else if (stage == SketchStage::kComposed) {
      AddComposedSketches(lowering, question, sketches);
    } else {
      const size_t before = sketches.size();
      AddAffineSketches(lowering, target, sketches);
      if (sketches.size() == before) AddPartialSketches(lowering, question, sketches);
    }
  }
  if (stage != SketchStage::kPatterns) return sketches;
  if (lowerings.size() == 1) AddSplitSumSketches(lowerings.front(), question, sketches);
  AddTransformedSketches(question, sketches);
  return sketches;
}

std::vector<Sketch> SketchesFor(const SketchQuestion& question) {
  const auto applies = [&](const Sketch& sketch) {
    const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
    const Compute& compute = *FindLowering(question.lowerings, schedule.lowering);
    return CheckApplies(compute, schedule, question.rounding).has_value();
  };
  std::vector<Sketch> sketches;
  for (const SketchStage stage :
       {SketchStage::kPatterns, SketchStage::kComposed, SketchStage::kAffine}) {
    if (question.set == SketchSet::kNaiveOnly || std::ranges::any_of(sketches, applies)) break;
    std::ranges::move(SketchesOf(stage, question), std::back_inserter(sketches));
  }
  sketches.push_back(Naive(question.lowerings[0].name));
  return sketches;
}

}  // namespace tunec
