#include "schedule/sketches/chain.h"

#include <algorithm>
#include <map>
#include <utility>

#include "schedule/access_analysis.h"
#include "schedule/sketches/sub_compute.h"

namespace tunec {
namespace {

constexpr int64_t kMostTaps = 64;  // largest number of terms of a result of the first sum

// Returns the statement between the two sums. Returns nothing unless statements 0 and 2 are the
// only sums.
std::optional<StatementId> Finisher(const Compute& compute) {
  std::vector<StatementId> sums;
  for (const StatementId s : compute.statements.ids())
    if (compute.statements[s].reducer) sums.push_back(s);
  if (sums.size() != 2 || sums[0] != StatementId(0) || sums[1] != StatementId(2)) return {};
  return StatementId(1);
}

bool SumsFewElements(const Statement& sum) {
  int64_t taps = 1;
  for (const VarId v : ReducedIterators(sum)) taps *= sum.iterators[v].extent;
  return taps <= kMostTaps;
}

// Returns the statement's first read of the tensor. Returns null if there is none, or if it has a
// guard.
const Read* ReadOf(const Compute& compute, const Statement& statement, const std::string& tensor) {
  const auto found = std::ranges::find_if(statement.reads, [&](const Read& read) {
    return compute.tensors[read.tensor].name == tensor;
  });
  return found == statement.reads.end() || found->guard ? nullptr : &*found;
}

// Maps iterators of the writer to the reader's iterators over the same dimension of the tensor.
// Skips dimensions of one element, and dimensions with constants in both indices. Returns nothing
// if another dimension is not indexed by single iterators. Also returns nothing if a writer's
// iterator indexes two dimensions.
std::optional<std::map<VarId, VarId>> Walked(const Tensor& tensor,
                                             const std::vector<IndexExpr>& written,
                                             const std::vector<IndexExpr>& read) {
  std::map<VarId, VarId> walked;
  for (size_t d = 0; d < written.size(); ++d) {
    if (tensor.shape[d] == 1 || (written[d].IsConstant() && read[d].IsConstant())) continue;
    const auto writer = written[d].AsVar(), reader = read[d].AsVar();
    if (!writer || !reader || !walked.emplace(*writer, *reader).second) return {};
  }
  return walked;
}

// Maps the iterators of the first sum's results to the iterators of the plan's reduction over the
// same dimension. Returns nothing if an iterator has no counterpart.
std::optional<std::map<VarId, VarId>> IteratorsOf(const TilePlan& first, const TilePlan& plan) {
  const Compute& compute = *plan.compute;
  const Statement& sum = first.reduction;
  const Statement& maker = compute.statements[*compute.FindStatement(plan.operand->statement)];
  const Tensor& results = first.compute->tensors[sum.writes[0].tensor];
  const Tensor& operand = compute.tensors[plan.operand->tensor];
  const Read* const of_sum = ReadOf(compute, maker, results.name);
  const Read* const of_operand = ReadOf(compute, plan.reduction, operand.name);
  if (of_sum == nullptr || of_operand == nullptr) return {};
  const auto to_maker = Walked(results, sum.writes[0].index, of_sum->index);
  const auto to_sum = Walked(operand, maker.writes[0].index, of_operand->index);
  if (!to_maker || !to_sum) return {};
  std::map<VarId, VarId> iterators;
  for (const auto& [own, made] : *to_maker) {
    const auto found = to_sum->find(made);
    if (found == to_sum->end()) return {};
    iterators.emplace(own, found->second);
  }
  return iterators;
}

}  // namespace

std::optional<Chain> FindChain(const NamedCompute& lowering, const Target& target) {
  const Compute& compute = lowering.compute;
  const std::optional<StatementId> finisher = Finisher(compute);
  if (!finisher || !SumsFewElements(compute.statements[StatementId(0)])) return {};
  const NamedCompute first{lowering.name, StatementsOf(compute, StatementId(0), finisher->next())};
  for (TilePlan& plan : MakeTilePlans(first, target)) {
    // The columns of the first sum are vectors, so each operand must be constant, packed, or
    // contiguous along the columns.
    const bool in_vectors = std::ranges::all_of(plan.reduction.reads, [&](const Read& read) {
      const Tensor& tensor = plan.compute->tensors[read.tensor];
      const bool packed = tensor.constant || (plan.pack && plan.pack->tensor == tensor.name);
      return packed || StorageStride(*plan.compute, plan.reduction, read.tensor, read.index,
                                     plan.column) == 1;
    });
    if (!in_vectors || plan.cache_write || plan.followers.size() != 1) continue;
    auto sum = std::make_shared<ChainedSum>(
        ChainedSum{std::move(plan), std::make_shared<const Compute>(compute)});
    const StatementId end(static_cast<int>(compute.statements.size()));
    return Chain{{lowering.name, StatementsOf(compute, *finisher, end)}, std::move(sum)};
  }
  return {};
}

bool AddFirstSum(const Chain& chain, TilePlan& plan) {
  const TilePlan& first = chain.first->plan;
  if (!plan.operand || !plan.row || !plan.long_reduction || !first.row) return false;
  const auto iterators = IteratorsOf(first, plan);
  if (!iterators) return false;
  const auto walks = [&](VarId own, VarId other) {
    const auto found = iterators->find(own);
    return found != iterators->end() && found->second == other;
  };
  if (!walks(first.column, *plan.long_reduction) || !walks(*first.row, *plan.row)) return false;
  // The second sum must reduce nothing else. A task then computes exactly the elements that it
  // reads.
  if (ReducedIterators(plan.reduction).size() != 1) return false;
  plan.operand->sum = chain.first;
  plan.row_has_conditions |= first.row_has_conditions;
  return true;
}

// The cost of the first sum is its number of loads. Each product loads a separate element; the rows
// of a tile share only a row of weights.
std::vector<CostedTile> ChainTiles(const TilePlan& plan, const Target& target, int64_t lanes,
                                   int64_t most_vectors) {
  const TilePlan& first = plan.operand->sum->plan;
  const int64_t rows = plan.Extent(*plan.row);
  const auto vectors = static_cast<double>(CeilDivide(first.Extent(first.column), lanes));
  const auto taps = static_cast<double>(first.reduction_size);
  const auto depth = static_cast<double>(plan.reduction_size);
  std::vector<CostedTile> tiles;
  for (int64_t wide = 1; wide <= most_vectors; ++wide) {
    const int64_t most = std::min({rows, kMostTileRows, MostRows(target, wide, BroadcastOf(plan))});
    for (int64_t mr = 1; mr <= most; ++mr) {
      const TileSizes tile{mr, wide * lanes};
      const auto loads = static_cast<double>(rows + CeilDivide(rows, mr));
      tiles.push_back({tile, depth * TilingCost(rows, plan.Extent(plan.column), tile, lanes) +
                                 taps * vectors * loads});
    }
  }
  return tiles;
}

std::vector<CostedTile> FirstTiles(const TilePlan& plan, const Target& target, int64_t rows,
                                   int64_t lanes) {
  const TilePlan& first = plan.operand->sum->plan;
  const int64_t vectors = CeilDivide(first.Extent(first.column), lanes);
  const int64_t most = std::clamp<int64_t>(AccumulatorRegisters(target) / rows, 1, 4);
  std::vector<CostedTile> tiles;
  for (int64_t wide = 1; wide <= most; ++wide) {
    const auto of = [&](int64_t some) {
      return TileCost(static_cast<double>(rows), static_cast<double>(some));
    };
    const int64_t whole = vectors / wide, rest = vectors % wide;
    const double cost = static_cast<double>(whole) * of(wide) + (rest == 0 ? 0 : of(rest));
    tiles.push_back({{.rows = rows, .columns = wide * lanes}, cost});
  }
  return tiles;
}

}  // namespace tunec
