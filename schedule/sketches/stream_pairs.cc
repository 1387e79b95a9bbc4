#include "schedule/sketches/stream_pairs.h"

#include <algorithm>
#include <utility>

#include "ir/array.h"
#include "schedule/access_analysis.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

class PairsPlanner {
 public:
  PairsPlanner(const StreamPlan& plan, const TileIntrinsic& intrinsic)
      : plan_(plan), compute_(*plan.compute) {
    pairs_.intrinsic = &intrinsic;
    pairs_.depths = plan.depths;
    pairs_.widths = plan.widths;
  }

  std::optional<StreamPairs> Plan() {
    if (!IsOfWholeRows() || !RoundsTypes()) return std::nullopt;
    const bool copied = CopyMade(plan_.first, plan_.depth, pairs_.queries) && CopyKeys() &&
                        CopyMade(plan_.last, plan_.column, pairs_.weights) && CopyValues();
    if (!copied || !Pad()) return std::nullopt;
    Describe(plan_.first, pairs_.queries);
    Describe(plan_.last, pairs_.weights);
    if (pairs_.keys) Describe(plan_.first, *pairs_.keys);
    Describe(plan_.last, pairs_.values);
    return std::move(pairs_);
  }

 private:
  // Returns the product in the current Compute. Finds it by name, because added copies change ids.
  const Statement& Now(StatementId product) const {
    return compute_.statements[*compute_.FindStatement(plan_.statement(product).name)];
  }
  VarId IteratorOf(StatementId product, int dimension) const {
    return *plan_.IteratorOf(product, dimension);
  }
  const std::string& NameOf(StatementId product, VarId iterator) const {
    return plan_.statement(product).iterators[iterator].name;
  }
  bool IsMade(const Read& read) const {
    return compute_.tensors[read.tensor].role == TensorRole::kWorkspace;
  }
  const Read& Operand(StatementId product, bool made) const {
    const auto& reads = plan_.statement(product).reads;
    return IsMade(reads[0]) == made ? reads[0] : reads[1];
  }

  bool IsOfWholeRows() const { return plan_.rows % pairs_.Lanes() == 0; }
  bool RoundsTypes() const;
  bool Rewrite(auto step);
  std::optional<std::string> AddCopy(StatementId product, const Read& operand,
                                     std::vector<CopyStep::Group> groups);
  std::vector<CopyStep::Group> GroupsOf(StatementId product, const Read& operand,
                                        VarId along) const;
  bool CopyMade(StatementId product, int reduced, StreamPairs::Copy& copy);
  bool CopyKeys();
  bool CopyValues();
  bool Pad();
  std::optional<size_t> DimensionOf(const Read& read, VarId iterator) const;
  bool NamePair(StatementId product, const std::string& name, VarId reduced, VarId lanes,
                StreamPairs::Copy& copy) const;
  void Describe(StatementId product, StreamPairs::Copy& copy) const;

  const StreamPlan& plan_;
  Compute compute_;
  StreamPairs pairs_;
};

// Returns true if the operands' types fit: float32 for computed operands, float32 or bfloat16 for
// arguments. Arguments must be read without conditions.
bool PairsPlanner::RoundsTypes() const {
  for (const StatementId product : {plan_.first, plan_.last}) {
    const DataType made = compute_.tensors[Operand(product, true).tensor].type;
    const DataType given = compute_.tensors[Operand(product, false).tensor].type;
    if (made != DataType::kF32) return false;
    if (given != DataType::kF32 && given != DataType::kBF16) return false;
    if (Operand(product, false).guard) return false;
  }
  return true;
}

bool PairsPlanner::Rewrite(auto step) {
  Result<Compute> rewritten = Apply(compute_, step);
  if (!rewritten) return false;
  compute_ = *std::move(rewritten);
  pairs_.steps.emplace_back(std::move(step));
  return true;
}

// Adds a copy in bfloat16 that the product reads in place of the operand. Returns the copy's name,
// or nothing if a step fails.
std::optional<std::string> PairsPlanner::AddCopy(StatementId product, const Read& operand,
                                                 std::vector<CopyStep::Group> groups) {
  const std::string reader = plan_.statement(product).name;
  const Tensor source = compute_.tensors[operand.tensor];
  if (!Rewrite(CopyStep{source.name, reader, std::move(groups)})) return std::nullopt;
  std::string copy = compute_.tensors.back().name;
  if (source.type == DataType::kF32 && !Rewrite(NarrowStep{copy, reader})) return std::nullopt;
  return copy;
}

// Returns the only dimension of the read whose index uses the iterator. Returns nothing if there is
// none, or if there are several.
std::optional<size_t> PairsPlanner::DimensionOf(const Read& read, VarId iterator) const {
  std::optional<size_t> found;
  for (size_t d = 0; d < read.index.size(); ++d) {
    if (!read.index[d].Uses(iterator)) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found;
}

std::string IteratorOfDimension(const Statement& copy, size_t dimension) {
  return copy.iterators[*copy.writes[0].index[dimension].AsVar()].name;
}

// Sets the names of the copy's iterators over groups, inside a pair and over lanes, and the order
// of its dimensions. Returns false unless the product reads each of the three at a separate
// dimension.
bool PairsPlanner::NamePair(StatementId product, const std::string& name, VarId reduced,
                            VarId lanes, StreamPairs::Copy& copy) const {
  const Statement& sum = Now(product);
  const TensorId tensor = *compute_.FindTensor(name);
  const Read& read = *std::ranges::find(sum.reads, tensor, &Read::tensor);
  const Statement& maker = compute_.statements[*compute_.FindStatement(name)];
  const IndexExpr group = IndexExpr::FloorDiv(IndexExpr::Var(reduced), pairs_.Group());
  const IndexExpr within = IndexExpr::Mod(IndexExpr::Var(reduced), pairs_.Group());
  copy.name = name;
  for (size_t d = 0; d < read.index.size(); ++d) {
    const IndexExpr& index = read.index[d];
    if (index == group) {
      copy.group = IteratorOfDimension(maker, d);
    } else if (index == within) {
      copy.pair = IteratorOfDimension(maker, d);
      copy.order.push_back(static_cast<int64_t>(d));
    } else if (index.AsVar() == lanes) {
      copy.lanes = IteratorOfDimension(maker, d);
    } else if (index.Uses(reduced) || index.Uses(lanes)) {
      return false;
    }
  }
  if (copy.group.empty() || copy.lanes.empty() || !copy.pair) return false;
  // The dimension inside a pair comes last, so that a pair is contiguous.
  const int64_t last = copy.order.front();
  copy.order.clear();
  for (int64_t d = 0; d < std::ssize(read.index); ++d) {
    if (d != last) copy.order.push_back(d);
  }
  copy.order.push_back(last);
  return true;
}

// Adds the copy of the product's computed operand, in pairs along the dimension `reduced`. Returns
// false if the operand does not fit.
bool PairsPlanner::CopyMade(StatementId product, int reduced, StreamPairs::Copy& copy) {
  const VarId along = IteratorOf(product, reduced);
  const Read operand = Operand(product, /*made=*/true);
  const auto name = AddCopy(product, operand, {{NameOf(product, along), pairs_.Group()}});
  if (!name) return false;
  return NamePair(product, *name, along, IteratorOf(product, plan_.row), copy);
}

// Returns a group of one value for each iterator that the operand's index uses, except `along`. The
// copy then has only elements that the product reads.
std::vector<CopyStep::Group> PairsPlanner::GroupsOf(StatementId product, const Read& operand,
                                                    VarId along) const {
  std::vector<CopyStep::Group> groups;
  for (const VarId v : plan_.statement(product).iterators.ids()) {
    if (v == along || !UsesIterator(operand.index, v)) continue;
    groups.push_back({NameOf(product, v), 1});
  }
  return groups;
}

// Adds the copy of the keys, in which the elements of a key are contiguous. Adds none if the keys
// are already stored in this way as bfloat16, and the depth has complete pairs. Returns false if
// the keys do not fit.
bool PairsPlanner::CopyKeys() {
  const Statement& product = plan_.statement(plan_.first);
  const Read operand = Operand(plan_.first, /*made=*/false);
  const VarId depth = IteratorOf(plan_.first, plan_.depth);
  const DataType type = compute_.tensors[operand.tensor].type;
  const auto stride = StorageStride(*plan_.compute, product, operand.tensor, operand.index, depth);
  const bool whole = plan_.depths % pairs_.Group() == 0;
  if (type == DataType::kBF16 && stride == 1 && whole) return true;
  const auto name = AddCopy(plan_.first, operand, GroupsOf(plan_.first, operand, depth));
  if (!name) return false;
  const Statement& sum = Now(plan_.first);
  const Read& read = *std::ranges::find(sum.reads, *compute_.FindTensor(*name), &Read::tensor);
  const std::optional<size_t> dimension = DimensionOf(read, depth);
  if (!dimension || read.index[*dimension].AsVar() != depth) return false;
  const Statement& maker = compute_.statements[*compute_.FindStatement(*name)];
  StreamPairs::Copy copy{.name = *name, .lanes = IteratorOfDimension(maker, *dimension)};
  const VarId column = IteratorOf(plan_.first, plan_.column);
  const std::optional<size_t> key = DimensionOf(read, column);
  if (!key || read.index[*key].AsVar() != column) return false;
  copy.group = IteratorOfDimension(maker, *key);
  pairs_.keys = std::move(copy);
  return true;
}

// Adds the copy of the values, in pairs of rows, and moves its statement before all others. Returns
// false if the values do not fit.
bool PairsPlanner::CopyValues() {
  const Read operand = Operand(plan_.last, /*made=*/false);
  const VarId width = IteratorOf(plan_.last, plan_.width);
  const VarId column = IteratorOf(plan_.last, plan_.column);
  std::vector<CopyStep::Group> groups = GroupsOf(plan_.last, operand, width);
  for (CopyStep::Group& group : groups) {
    if (group.iterator == NameOf(plan_.last, column)) group.factor = pairs_.Group();
  }
  const auto name = AddCopy(plan_.last, operand, std::move(groups));
  if (!name || !NamePair(plan_.last, *name, column, width, pairs_.values)) return false;
  PackStep order{.tensor = *name};
  for (const int64_t d : pairs_.values.order) {
    order.axes.push_back({.dimension = static_cast<int>(d)});
  }
  return Rewrite(std::move(order)) && Rewrite(HoistStep{*name});
}

// Pads the depth and the widths to complete instructions, and sets `odd_columns`. Columns are not
// padded; the last one of an odd number is multiplied separately. Returns false if padding fails.
bool PairsPlanner::Pad() {
  const auto pad = [&](StatementId product, int dimension, int64_t factor, int64_t& extent) {
    if (extent % factor == 0) return true;
    // `pad` would remove the conditions, and all elements that they exclude would be computed.
    if (!plan_.statement(product).domain.empty()) return false;
    extent = CeilDivide(extent, factor) * factor;
    const VarId iterator = IteratorOf(product, dimension);
    return Rewrite(PadStep{plan_.statement(product).name, {{NameOf(product, iterator), factor}}});
  };
  pairs_.odd_columns = plan_.columns % pairs_.Group() != 0 || plan_.partial_columns;
  return pad(plan_.first, plan_.depth, pairs_.Group(), pairs_.depths) &&
         pad(plan_.last, plan_.width, pairs_.Lanes(), pairs_.widths);
}

// Sets the copy's extents and the other iterators from the statement that computes the copy. Call
// Describe after all steps.
void PairsPlanner::Describe(StatementId product, StreamPairs::Copy& copy) const {
  const Statement& maker = compute_.statements[*compute_.FindStatement(copy.name)];
  const auto& reads = Now(product).reads;
  const Read& read = *std::ranges::find(reads, *compute_.FindTensor(copy.name), &Read::tensor);
  copy.elements = ProductOfExtents(maker);
  copy.partial = !maker.domain.empty() || std::ranges::any_of(maker.reads, [](const Read& r) {
    return r.guard.has_value();
  });
  for (size_t d = 0; d < read.index.size(); ++d) {
    const Iterator& iterator = maker.iterators[*maker.writes[0].index[d].AsVar()];
    if (iterator.name == copy.group) {
      copy.groups = iterator.extent;
    } else if (iterator.name == copy.lanes) {
      copy.length = iterator.extent;
    } else if (iterator.name != copy.pair) {
      (read.index[d].IsConstant() ? copy.ones : copy.outer).push_back(iterator.name);
    }
  }
}

}  // namespace

std::optional<StreamPairs> MakeStreamPairs(const StreamPlan& plan, const TileIntrinsic& intrinsic,
                                           const RoundingFreedom& rounding) {
  if (rounding.order != ReductionOrder::kAny || rounding.min_bf16_parts > 1) return std::nullopt;
  return PairsPlanner(plan, intrinsic).Plan();
}

}  // namespace tunec
