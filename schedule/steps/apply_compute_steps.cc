#include "schedule/steps/apply_compute_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "schedule/steps/index_parts.h"
#include "support/check.h"

namespace tunec {
namespace {

// Largest factor of `reduce_split`. The limit keeps extents far from overflow.
constexpr int64_t kLargestFactor = int64_t{1} << 31;

constexpr const char* kDimensionNames[] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};

std::string DimensionName(size_t dimension) {
  return dimension < std::size(kDimensionNames) ? kDimensionNames[dimension]
                                                : fmt::format("d{}", dimension);
}

IndexPart PartOf(const PackStep::Axis& axis) {
  switch (axis.part) {
    case PackStep::Part::kWhole:
      return {};
    case PackStep::Part::kQuotient:
      return {.divisor = axis.factor};
    case PackStep::Part::kRemainder:
      return {.modulus = axis.factor};
    case PackStep::Part::kMiddle:
      return {.modulus = axis.of, .divisor = axis.factor};
  }
  TUNEC_UNREACHABLE("a part of an axis");
}

// Returns the layout that a pack step describes. Every dimension must appear as a whole, or in
// parts that form the whole.
Result<Layout> LayoutOf(const Tensor& tensor, const PackStep& step) {
  Layout layout;
  std::vector<std::vector<IndexPart>> parts(tensor.shape.size());
  for (const PackStep::Axis& axis : step.axes) {
    if (axis.dimension < 0 || static_cast<size_t>(axis.dimension) >= tensor.shape.size() ||
        axis.factor < 1) {
      return Fail(ErrorCode::kInvalidArgument, "pack {}: it has no dimension {}", tensor.name,
                  axis.dimension);
    }
    const IndexExpr index = IndexExpr::Var(DimensionVar(static_cast<size_t>(axis.dimension)));
    const IndexPart part = PartOf(axis);
    parts[axis.dimension].push_back(part);
    layout.map.push_back(part.Of(index));
    layout.shape.push_back(part.Extent(tensor.shape[axis.dimension]));
  }
  for (std::vector<IndexPart>& dimension : parts) {
    SortParts(dimension);
    if (AreWhole(dimension)) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "pack {}: each dimension must appear once, or in parts that make it up, as d/32 "
                "d%32/2 d%2",
                tensor.name);
  }
  return layout;
}

Statement CopyStatement(const Compute& compute, TensorId from, TensorId to) {
  const Tensor& source = compute.tensors[from];
  Statement copy{.name = compute.tensors[to].name};
  const std::vector<IndexExpr> index = AddElementIterators(source.shape, copy);
  copy.reads.push_back({from, index, {}});
  copy.writes.push_back({to, index});
  copy.values.push_back(Expr::Read(0, source.type));
  return copy;
}

// Returns the Compute with the workspace tensor stored in another order. No copy is needed, because
// the schedule decides the order of workspace.
Result<Compute> StoreInOrder(const Compute& compute, TensorId id, Layout layout) {
  const Tensor& tensor = compute.tensors[id];
  const bool shares =
      tensor.alias ||
      std::ranges::any_of(compute.tensors, [&](const Tensor& other) { return other.alias == id; });
  if (shares || !tensor.layout.IsRowMajor()) {
    return Fail(ErrorCode::kInvalidArgument, "pack {}: {}", tensor.name,
                shares ? "it shares its storage with another tensor" : "it is packed already");
  }
  Compute result = compute;
  result.tensors[id].layout = std::move(layout);
  result.tensors[id].alignment = 64;
  return result;
}

}  // namespace

std::vector<IndexExpr> AddElementIterators(const std::vector<int64_t>& shape,
                                           Statement& statement) {
  std::vector<IndexExpr> index;
  for (size_t d = 0; d < shape.size(); ++d) {
    index.push_back(IndexExpr::Var(
        statement.iterators.push_back({DimensionName(d), shape[d], IteratorKind::kParallel})));
  }
  return index;
}

bool IsMadeOfConstant(const Compute& compute, const Statement& statement) {
  const Tensor& written = compute.tensors[statement.writes[0].tensor];
  return written.constant && written.role == TensorRole::kWorkspace;
}

Result<Compute> Apply(const Compute& compute, const PackStep& step) {
  const std::optional<TensorId> source = compute.FindTensor(step.tensor);
  if (!source) {
    return Fail(ErrorCode::kInvalidArgument, "pack: there is no tensor {}", step.tensor);
  }
  const Tensor& tensor = compute.tensors[*source];
  if (tensor.role == TensorRole::kOutput || tensor.role == TensorRole::kLocal) {
    return Fail(ErrorCode::kInvalidArgument,
                "pack {}: only arguments that are read, and workspace, can be packed", step.tensor);
  }
  TUNEC_ASSIGN(Layout layout, LayoutOf(tensor, step));
  if (tensor.role == TensorRole::kWorkspace) {
    return StoreInOrder(compute, *source, std::move(layout));
  }
  Compute result = compute;
  Tensor packed{.name = tensor.name + ".pack",
                .type = tensor.type,
                .shape = tensor.shape,
                .role = TensorRole::kWorkspace,
                .constant = tensor.constant,
                .finite = tensor.finite,
                .layout = std::move(layout),
                .alignment = 64};
  packed.range = tensor.range;
  const TensorId id = result.tensors.next_id();
  if (result.FindTensor(packed.name)) {
    return Fail(ErrorCode::kInvalidArgument, "pack {}: it is packed already", step.tensor);
  }
  result.tensors.push_back(std::move(packed));
  for (Statement& statement : result.statements) {
    for (Read& read : statement.reads) {
      if (read.tensor == *source) read.tensor = id;
    }
  }
  result.statements.insert(StatementId(0), CopyStatement(result, *source, id));
  return result;
}

bool NamesDimensions(const std::vector<IndexExpr>& index) {
  std::vector<VarId> seen;
  for (const IndexExpr& dimension : index) {
    if (dimension.IsConstant()) continue;
    const std::optional<VarId> iterator = dimension.AsVar();
    if (!iterator || std::ranges::find(seen, *iterator) != seen.end()) return false;
    seen.push_back(*iterator);
  }
  return true;
}

namespace {

// The reduction that `reduce_split` splits, the split iterator, and the extent of its outer part.
struct ReductionSplit {
  StatementId statement;
  VarId iterator;
  int64_t outer_extent = 0;
};

// Checks that the names that the step makes are new.
Status CheckNewNames(const Compute& compute, const Statement& statement,
                     const ReduceSplitStep& step) {
  const std::string part = statement.name + ".part";
  if (compute.FindStatement(part) || compute.FindTensor(part)) {
    return Fail(ErrorCode::kInvalidArgument, "reduce_split {}: there is {} already", step.statement,
                part);
  }
  for (const Iterator& iterator : statement.iterators) {
    for (const char* suffix : {"o", "i", "p"}) {
      if (iterator.name != step.iterator + suffix) continue;
      return Fail(ErrorCode::kInvalidArgument, "reduce_split {}: there is an iterator {} already",
                  step.statement, iterator.name);
    }
  }
  return {};
}

Result<ReductionSplit> FindReduction(const Compute& compute, const ReduceSplitStep& step) {
  const std::optional<StatementId> id = compute.FindStatement(step.statement);
  if (!id) {
    return Fail(ErrorCode::kInvalidArgument, "reduce_split: there is no statement {}",
                step.statement);
  }
  const Statement& statement = compute.statements[*id];
  if (!statement.reducer || !statement.reducer->reorderable || statement.writes.size() != 1 ||
      !statement.reducer->finalise.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "reduce_split {}: it is not a reorderable reduction of one value", step.statement);
  }
  if (!NamesDimensions(statement.writes[0].index)) {
    return Fail(ErrorCode::kInvalidArgument,
                "reduce_split {}: its write index must consist of different iterators",
                step.statement);
  }
  for (const VarId i : statement.iterators.ids()) {
    if (statement.iterators[i].name != step.iterator) continue;
    for (const IndexExpr& index : statement.writes[0].index) {
      if (index.Uses(i)) {
        return Fail(ErrorCode::kInvalidArgument, "reduce_split {}: {} is not reduced over",
                    step.statement, step.iterator);
      }
    }
    if (step.factor < 1 || step.factor > kLargestFactor) break;
    TUNEC_RETURN_IF_ERROR(CheckNewNames(compute, statement, step));
    return ReductionSplit{*id, i, CeilDivide(statement.iterators[i].extent, step.factor)};
  }
  return Fail(ErrorCode::kInvalidArgument, "reduce_split {}: no iterator {} to split by {}",
              step.statement, step.iterator, step.factor);
}

// Returns the statement S.part, in which factor*ro + ri replaces the iterator r. Of ro and ri, the
// one that `parallel` names becomes a parallel iterator, and the other one is reduced.
Statement PartialReduction(const Statement& statement, const ReduceSplitStep& step,
                           const ReductionSplit& split, TensorId partial) {
  const bool inner = step.parallel == ReduceSplitStep::Parallel::kInner;
  Statement part = statement;
  part.name += ".part";
  const std::string name = statement.iterators[split.iterator].name;
  const int64_t extent = statement.iterators[split.iterator].extent;
  const VarId last = statement.iterators.next_id();
  part.iterators[split.iterator] = {name + "o", split.outer_extent, IteratorKind::kReduction};
  part.iterators.push_back({name + "i", step.factor, IteratorKind::kReduction});
  const VarId part_iterator = inner ? last : split.iterator;
  part.iterators[part_iterator].kind = IteratorKind::kParallel;
  std::vector<IndexExpr> replacement;
  for (const VarId v : statement.iterators.ids()) replacement.push_back(IndexExpr::Var(v));
  const IndexExpr value = IndexExpr::Var(split.iterator) * step.factor + IndexExpr::Var(last);
  replacement[split.iterator.index()] = value;
  const auto rewrite = [&](const IndexExpr& index) { return Substitute(index, replacement); };
  for (IndexExpr& condition : part.domain) condition = rewrite(condition);
  if (extent % step.factor != 0) part.domain.push_back(IndexExpr(extent - 1) - value);
  for (Read& read : part.reads) {
    for (IndexExpr& index : read.index) index = rewrite(index);
    if (!read.guard) continue;
    for (IndexExpr& condition : read.guard->nonnegative) condition = rewrite(condition);
  }
  for (Expr& body : part.values) body = TransformIndices(body, rewrite);
  part.writes[0].tensor = partial;
  part.writes[0].index.push_back(IndexExpr::Var(part_iterator));
  return part;
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const ReduceSplitStep& step) {
  TUNEC_ASSIGN(const ReductionSplit split, FindReduction(compute, step));
  const Statement& statement = compute.statements[split.statement];
  const bool inner = step.parallel == ReduceSplitStep::Parallel::kInner;
  const int64_t part_extent = inner ? step.factor : split.outer_extent;
  Compute result = compute;
  const Tensor& target = compute.tensors[statement.writes[0].tensor];
  Tensor partial{.name = statement.name + ".part", .type = target.type, .shape = target.shape};
  partial.shape.push_back(part_extent);
  partial.alignment = 64;
  const TensorId partial_id = result.tensors.next_id();
  result.tensors.push_back(partial);

  Statement part = PartialReduction(statement, step, split, partial_id);
  Statement whole{.name = statement.name, .reducer = statement.reducer};
  std::vector<IndexExpr> renumbered(statement.iterators.size());
  for (const VarId i : statement.iterators.ids()) {
    const bool written = std::ranges::any_of(statement.writes[0].index,
                                             [&](const IndexExpr& index) { return index.Uses(i); });
    if (!written) continue;
    renumbered[i.index()] = IndexExpr::Var(whole.iterators.next_id());
    whole.iterators.push_back(statement.iterators[i]);
  }
  const IndexExpr part_iterator = IndexExpr::Var(whole.iterators.next_id());
  whole.iterators.push_back({step.iterator + "p", part_extent, IteratorKind::kReduction});
  Write write = statement.writes[0];
  for (IndexExpr& index : write.index) index = Substitute(index, renumbered);
  Read read{partial_id, write.index, {}};
  read.index.push_back(part_iterator);
  whole.reads.push_back(std::move(read));
  whole.writes.push_back(std::move(write));
  whole.values.push_back(Expr::Read(0, target.type));
  auto& statements = result.statements;
  statements[split.statement] = std::move(whole);
  statements.insert(split.statement, std::move(part));
  return result;
}

Compute RemoveUnusedTensors(const Compute& compute) {
  IdVector<TensorId, bool> used(compute.tensors.size(), false);
  for (const TensorId t : compute.tensors.ids()) {
    used[t] = compute.tensors[t].role == TensorRole::kOutput;
  }
  for (const Statement& statement : compute.statements) {
    for (const Read& read : statement.reads) used[read.tensor] = true;
    for (const Write& write : statement.writes) used[write.tensor] = true;
  }
  Compute result = compute;
  result.tensors.clear();
  IdVector<TensorId, TensorId> renumbered(compute.tensors.size());
  for (const TensorId t : compute.tensors.ids()) {
    renumbered[t] = result.tensors.next_id();
    if (used[t]) result.tensors.push_back(compute.tensors[t]);
  }
  for (Tensor& tensor : result.tensors) {
    if (tensor.alias) tensor.alias = renumbered[*tensor.alias];
  }
  for (Statement& statement : result.statements) {
    for (Read& read : statement.reads) read.tensor = renumbered[read.tensor];
    for (Write& write : statement.writes) write.tensor = renumbered[write.tensor];
  }
  return result;
}

}  // namespace tunec
