#include "compiler/weights/finite_weights.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "compiler/assemble/plan_arena.h"
#include "compiler/front_end.h"
#include "ir/tile_intrinsic.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

// Returns whether a schedule may split operands into bf16 parts, but not into fewer than two, and
// the target has instructions that multiply matrices of bf16.
bool CanSplitIntoBf16Parts(const CompileOptions& options) {
  const RoundingFreedom rounding = RoundingFreedomFor(options.accuracy);
  if (rounding.order != ReductionOrder::kAny || rounding.min_bf16_parts < 2) return false;
  return std::ranges::any_of(TileIntrinsics(), [&](const TileIntrinsic& intrinsic) {
    return intrinsic.left.type == DataType::kBF16 && intrinsic.Extent(TileAxis::kRow) > 1 &&
           MissingFeatures(intrinsic, options.target).empty();
  });
}

// Returns the names of the weights that are SplitOperands of a statement of one of the lowerings.
std::set<std::string> SplitWeights(const std::vector<NamedCompute>& lowerings) {
  std::set<std::string> names;
  for (const NamedCompute& lowering : lowerings) {
    for (const Statement& statement : lowering.compute.statements) {
      for (const TensorId operand : SplitOperands(statement)) {
        const Tensor& tensor = lowering.compute.tensors[operand];
        if (tensor.role == TensorRole::kWeight) names.insert(tensor.name);
      }
    }
  }
  return names;
}

bool IsFinite(std::span<const uint32_t> floats) {
  constexpr uint32_t kExponent = 0x7f800000;
  // Each block is checked without branches, so that the compiler can use vectors.
  constexpr size_t kBlock = 4096;
  for (size_t begin = 0; begin < floats.size(); begin += kBlock) {
    uint32_t special = 0;
    for (const uint32_t bits : floats.subspan(begin, std::min(kBlock, floats.size() - begin))) {
      special |= (bits & kExponent) == kExponent ? 1 : 0;
    }
    if (special != 0) return false;
  }
  return true;
}

class FiniteWeights {
 public:
  explicit FiniteWeights(const Graph& graph) : graph_(graph) {}

  bool Contains(ValueId value) {
    const auto [found, inserted] = known_.emplace(value, false);
    if (inserted) {
      const Array* array = graph_.ConstantOf(value);
      found->second =
          array != nullptr && array->type() == DataType::kF32 && IsFinite(array->As<uint32_t>());
    }
    return found->second;
  }

 private:
  const Graph& graph_;
  std::map<ValueId, bool> known_;
};

}  // namespace

void MarkFiniteWeights(const Graph& graph, const CompileOptions& options,
                       std::vector<GroupReport>& groups) {
  if (!CanSplitIntoBf16Parts(options)) return;
  FiniteWeights finite(graph);
  for (GroupReport& group : groups) {
    const std::set<std::string> names = SplitWeights(group.lowerings);
    if (names.empty()) continue;
    // All lowerings have the same argument names.
    for (const auto& [name, value] :
         ValueOfArguments(group.group, ArgumentNames(group.lowerings[0].compute))) {
      if (!names.contains(name) || !finite.Contains(value)) continue;
      for (NamedCompute& lowering : group.lowerings) {
        lowering.compute.tensors[*lowering.compute.FindTensor(name)].finite = true;
      }
    }
  }
}

}  // namespace tunec
