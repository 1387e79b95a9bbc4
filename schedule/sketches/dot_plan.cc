#include "schedule/sketches/dot_plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/array.h"
#include "schedule/access_analysis.h"
#include "schedule/sketches/matrix_tile.h"
#include "schedule/steps/apply_compute_steps.h"
#include "support/check.h"

namespace tunec {
namespace {

// Returns the type of the element that a factor reads, before any cast. Returns nothing if the
// factor is neither a read nor the cast of a read.
std::optional<DataType> FactorType(const Expr& factor) {
  const Expr& read = factor.kind() == ExprKind::kCast ? factor.operands()[0] : factor;
  if (read.kind() != ExprKind::kRead) return std::nullopt;
  return read.type();
}

// Returns the element types of both factors if the statement is a float32 sum of products of two
// elements. Returns nothing for any other statement.
std::optional<std::pair<DataType, DataType>> TypesOfFactors(const Statement& sum) {
  if (sum.reads.size() != 2 || sum.values.size() != 1 || !sum.values[0].Is(ScalarOp::kMul) ||
      sum.reducer != Reducer::Sum(DataType::kF32)) {
    return std::nullopt;
  }
  const std::optional<DataType> left = FactorType(sum.values[0].operands()[0]);
  const std::optional<DataType> right = FactorType(sum.values[0].operands()[1]);
  if (!left || !right) return std::nullopt;
  return std::pair(*left, *right);
}

// Returns the dimension whose index is the iterator alone. Returns nothing if there is none, or if
// another dimension also uses the iterator.
std::optional<size_t> DimensionOf(const std::vector<IndexExpr>& index, VarId iterator) {
  std::optional<size_t> found;
  for (size_t d = 0; d < index.size(); ++d) {
    if (!index[d].Uses(iterator)) continue;
    if (found || index[d].AsVar() != iterator) return std::nullopt;
    found = d;
  }
  return found;
}

// Returns the longest reduced iterator that is a dimension of both operands. Returns nothing if
// there is none, or if it has only one iteration.
std::optional<VarId> FindPaired(const Statement& sum) {
  std::optional<VarId> longest;
  for (const VarId v : ReducedIterators(sum)) {
    const bool of_both = std::ranges::all_of(
        sum.reads, [&](const Read& read) { return DimensionOf(read.index, v).has_value(); });
    const bool longer = !longest || sum.iterators[v].extent > sum.iterators[*longest].extent;
    if (of_both && longer) longest = v;
  }
  if (longest && sum.iterators[*longest].extent < 2) return std::nullopt;
  return longest;
}

class DotPlanner {
 public:
  DotPlanner(const TilePlan& plain, const NamedCompute& lowering, const TileIntrinsic& intrinsic)
      : plain_(plain),
        column_(plain.column),
        row_(plain.row),
        sum_(plain.reduction.name),
        compute_(lowering.compute),
        group_(intrinsic.Extent(TileAxis::kGroup)),
        depth_(group_ * intrinsic.Extent(TileAxis::kReduced)),
        columns_(intrinsic.Extent(TileAxis::kColumn)),
        rows_(intrinsic.Extent(TileAxis::kRow)) {
    dot_.intrinsic = &intrinsic;
  }

  std::optional<TilePlan> Plan(const RoundingFreedom& rounding, bool inlines) {
    if (!MakeOperands(rounding)) return std::nullopt;
    // The inlined statement would run once for each part of a split operand.
    if (inlines && !dot_.part_product) InlineRounded();
    if (plain_.cache_write && !Rewrite(*plain_.cache_write)) return std::nullopt;
    if (!FindRoles() || !CopyArguments() || !Pad()) return std::nullopt;
    return WholePlan();
  }

 private:
  const Statement& Sum() const { return compute_.statements[*compute_.FindStatement(sum_)]; }
  const Read& OperandOf(bool along_columns) const {
    const auto knows = [&](const Read& read) {
      return UsesIterator(read.index, column_) == along_columns;
    };
    return *std::ranges::find_if(Sum().reads, knows);
  }
  // Returns the name of the operand in a `pack` step: the argument of which the operand is a copy,
  // else the operand's tensor.
  const std::string& PackedName(const Read& read) const {
    const std::string& name = compute_.tensors[read.tensor].name;
    const auto copy = sources_.find(name);
    return copy == sources_.end() ? name : copy->second;
  }
  bool Rewrite(const auto& step) {
    Result<Compute> rewritten = Apply(compute_, step);
    if (!rewritten) return false;
    compute_ = *std::move(rewritten);
    return true;
  }

  bool MakeOperands(const RoundingFreedom& rounding);
  void FindPartProduct();
  void InlineRounded();
  bool FindRoles();
  bool IsOfMatrices() const { return rows_ > 1; }
  bool HasRows() const;
  bool CopyArguments();
  bool NeedsZeros() const;
  bool Pad();
  std::optional<TilePlan> WholePlan() const;
  void PackOperands(TilePlan& plan) const;
  static void MovePlanes(PackStep& pack);

  const TilePlan& plain_;
  VarId column_;
  std::optional<VarId> row_;
  const std::string sum_;
  Compute compute_;
  TilePlan::Dot dot_;
  VarId paired_;
  std::map<std::string, std::string> sources_;  // argument of each copy by `pack`
  const int64_t group_;
  const int64_t depth_;    // number of reduced elements that one instruction takes
  const int64_t columns_;  // number of columns of one instruction
  const int64_t rows_;     // number of rows of one instruction
};

// Rounds float32 operands to as many bfloat16 parts as the contract requires. Operands that are
// both bfloat16 are not changed. Returns false if the contract or the types do not fit. Several
// parts require an instruction on matrices and two float32 operands. Instructions on vectors are
// not fast enough for the products of several parts.
bool DotPlanner::MakeOperands(const RoundingFreedom& rounding) {
  if (rounding.order != ReductionOrder::kAny) return false;
  const auto types = TypesOfFactors(Sum());
  if (!types) return false;
  const auto is = [&](DataType type) { return types->first == type || types->second == type; };
  if (!is(DataType::kF32)) return *types == std::pair(DataType::kBF16, DataType::kBF16);
  const bool has_term = is(DataType::kBF16);
  if (!has_term && types->first != types->second) return false;
  if (rounding.min_bf16_parts > 1 && (has_term || !IsOfMatrices())) return false;
  const PrecisionStep to_bfloat16{.statement = sum_, .bf16_parts = rounding.min_bf16_parts};
  const size_t iterators = Sum().iterators.size();
  if (!Rewrite(to_bfloat16)) return false;
  dot_.rewrites.emplace_back(to_bfloat16);
  if (Sum().iterators.size() > iterators) FindPartProduct();
  return true;
}

// Sets `part_product` to the iterator that `precision` has added, and updates the ids of the column
// and the row.
void DotPlanner::FindPartProduct() {
  const Iterators& now = Sum().iterators;
  const auto of_same_name = [&](VarId v) {
    const std::string& name = plain_.reduction.iterators[v].name;
    for (const VarId i : now.ids()) {
      if (now[i].name == name) return i;
    }
    TUNEC_UNREACHABLE("an iterator that `precision` removes");
  };
  column_ = of_same_name(plain_.column);
  if (plain_.row) row_ = of_same_name(*plain_.row);
  for (const VarId i : now.ids()) {
    const auto is_new = [&](const Iterator& old) { return old.name != now[i].name; };
    if (std::ranges::all_of(plain_.reduction.iterators, is_new)) dot_.part_product = i;
  }
}

// Replaces operands that are arguments by copies. The operand along the columns is always copied.
// The other operand is copied if its groups of reduced elements are not contiguous, or if zeros
// have to be added. PackOperands sets the order of the copies later. Returns false if a copy fails.
bool DotPlanner::CopyArguments() {
  for (const bool along_columns : {true, false}) {
    const Read& read = OperandOf(along_columns);
    const Tensor& tensor = compute_.tensors[read.tensor];
    if (tensor.role == TensorRole::kWorkspace) continue;
    const auto stride = StorageStride(compute_, Sum(), read.tensor, read.index, paired_);
    if (!along_columns && stride == 1 && !NeedsZeros()) continue;
    const std::string name = tensor.name;
    PackStep copy{.tensor = name};
    for (int d = 0; d < std::ssize(tensor.shape); ++d) copy.axes.push_back({.dimension = d});
    if (!Rewrite(copy)) return false;
    Tensor& made = compute_.tensors[*compute_.FindTensor(name + ".pack")];
    made.layout = {};
    sources_[made.name] = name;
  }
  return true;
}

// Returns true if zeros must fill the operands. Zeros are needed if the reduced dimension or the
// rows end with an incomplete instruction, or if the sum or a read has conditions.
bool DotPlanner::NeedsZeros() const {
  const Statement& sum = Sum();
  const auto is_guarded = [](const Read& read) { return read.guard.has_value(); };
  const bool whole_rows = rows_ == 1 || sum.iterators[*row_].extent % rows_ == 0;
  return sum.iterators[paired_].extent % depth_ != 0 || !whole_rows || !sum.domain.empty() ||
         std::ranges::any_of(sum.reads, is_guarded);
}

// Inlines the statement whose values an operand's statement rounds, if no other statement reads
// these values. The values are then rounded where they are computed.
void DotPlanner::InlineRounded() {
  for (const Read& operand : std::vector<Read>(Sum().reads)) {
    const auto maker = compute_.FindStatement(compute_.tensors[operand.tensor].name);
    if (!maker || compute_.statements[*maker].reads.empty()) continue;
    const TensorId source = compute_.statements[*maker].reads[0].tensor;
    int readers = 0;
    for (const Statement& statement : compute_.statements) {
      const auto reads = [&](const Read& read) { return read.tensor == source; };
      readers += std::ranges::any_of(statement.reads, reads) ? 1 : 0;
    }
    const InlineStep step{compute_.tensors[source].name};
    if (readers != 1 || !compute_.FindStatement(step.statement)) continue;
    if (Rewrite(step)) dot_.rewrites.emplace_back(step);
  }
}

// Sets the paired iterator and the numbers of planes. Returns false if the operands do not fit.
// Exactly one operand must use the column, as a separate dimension. Both operands must be tensors
// that `pack` can reorder.
bool DotPlanner::FindRoles() {
  const Statement& sum = Sum();
  const auto depends_on_column = [&](const Read& read) {
    return UsesIterator(read.index, column_);
  };
  if (std::ranges::count_if(sum.reads, depends_on_column) != 1) return false;
  if (!DimensionOf(OperandOf(true).index, column_)) return false;
  if (IsOfMatrices() && !HasRows()) return false;
  const std::optional<VarId> paired = FindPaired(sum);
  if (!paired) return false;
  paired_ = *paired;
  if (dot_.part_product) {
    dot_.column_planes = compute_.tensors[OperandOf(true).tensor].shape[0];
    dot_.row_planes = compute_.tensors[OperandOf(false).tensor].shape[0];
  }
  const auto is_packable = [&](const Read& read) {
    const Tensor& tensor = compute_.tensors[read.tensor];
    if (tensor.role == TensorRole::kWorkspace) return tensor.layout.IsRowMajor() && !tensor.alias;
    return tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
  };
  return std::ranges::all_of(sum.reads, is_packable);
}

// Returns true if only the operand without columns uses the row, and the operands are different
// tensors. One tensor cannot have the storage orders of both operands.
bool DotPlanner::HasRows() const {
  const Read& left = OperandOf(/*along_columns=*/false);
  const Read& right = OperandOf(/*along_columns=*/true);
  return row_ && left.tensor != right.tensor && UsesIterator(left.index, *row_) &&
         !UsesIterator(right.index, *row_);
}

// Pads the sum to complete instructions if necessary, which also removes its conditions. Stores the
// extents before padding. Returns false if padding fails or a condition remains.
bool DotPlanner::Pad() {
  const Statement& sum = Sum();
  const auto is_guarded = [](const Read& read) { return read.guard.has_value(); };
  PadStep pad{.statement = sum_};
  std::vector<std::pair<VarId, int64_t>> multiples = {{column_, columns_}, {paired_, depth_}};
  if (IsOfMatrices()) multiples.emplace_back(*row_, rows_);
  dot_.depth = sum.iterators[paired_].extent;
  for (const auto& [iterator, factor] : multiples) {
    if (sum.iterators[iterator].extent % factor == 0) continue;
    pad.multiples.push_back({sum.iterators[iterator].name, factor});
  }
  dot_.columns = sum.iterators[column_].extent;
  if (IsOfMatrices()) dot_.rows = sum.iterators[*row_].extent;
  const bool whole =
      pad.multiples.empty() && sum.domain.empty() && std::ranges::none_of(sum.reads, is_guarded);
  if (whole) return true;
  if (!Rewrite(pad)) return false;
  dot_.pad = std::move(pad);
  return Sum().domain.empty() && std::ranges::none_of(Sum().reads, is_guarded);
}

void DotPlanner::PackOperands(TilePlan& plan) const {
  const Read& along = OperandOf(/*along_columns=*/true);
  const auto paired = static_cast<int>(*DimensionOf(along.index, paired_));
  PackStep pack = PackInLoopOrder(plan, along);
  pack.tensor = PackedName(along);
  for (PackStep::Axis& axis : pack.axes) {
    if (axis.dimension == paired)
      axis = {paired, PackStep::Part::kQuotient, IsOfMatrices() ? depth_ : group_};
    // The tile of one matrix instruction is contiguous.
    if (IsOfMatrices() && axis.factor == 1 && axis.part != PackStep::Part::kWhole) {
      axis.factor = columns_;
    }
  }
  pack.axes.push_back({paired, PackStep::Part::kRemainder, group_});
  if (IsOfMatrices()) {
    // In such a tile, the groups of reduced elements come before the columns.
    pack.axes.insert(pack.axes.end() - 2, {paired, PackStep::Part::kMiddle, group_, depth_});
  }
  if (dot_.part_product) MovePlanes(pack);
  plan.pack = std::move(pack);
  const Read& broadcast = OperandOf(/*along_columns=*/false);
  const auto last = static_cast<int>(*DimensionOf(broadcast.index, paired_));
  const auto rank = static_cast<int>(broadcast.index.size());
  const bool is_copied = PackedName(broadcast) != compute_.tensors[broadcast.tensor].name;
  const auto stride =
      StorageStride(compute_, plan.reduction, broadcast.tensor, broadcast.index, paired_);
  const bool is_argument = compute_.tensors[broadcast.tensor].role != TensorRole::kWorkspace;
  const std::optional<size_t> row =
      IsOfMatrices() ? DimensionOf(broadcast.index, *row_) : std::nullopt;
  if (stride == 1 && !is_copied && (!row || is_argument)) return;
  PackStep order{.tensor = PackedName(broadcast)};
  for (int d = 0; d < rank; ++d) {
    if (d != last && row != static_cast<size_t>(d)) order.axes.push_back({.dimension = d});
  }
  if (row) {
    const auto rows = static_cast<int>(*row);
    using enum PackStep::Part;
    const PackStep::Axis pieces[] = {{rows, kQuotient, rows_},
                                     {last, kQuotient, depth_},
                                     {rows, kRemainder, rows_},
                                     {last, kRemainder, depth_}};
    order.axes.insert(order.axes.end(), std::begin(pieces), std::end(pieces));
  } else {
    order.axes.push_back({.dimension = last});
  }
  if (dot_.part_product) MovePlanes(order);
  plan.dot->broadcast = std::move(order);
}

// Moves the dimension over planes of bfloat16 parts directly before the first axis inside a tile.
// All planes of a tile are then stored together. Without such an axis, moves the dimension to the
// front. Only instructions on matrices take several parts.
void DotPlanner::MovePlanes(PackStep& pack) {
  std::erase_if(pack.axes, [](const PackStep::Axis& axis) { return axis.dimension == 0; });
  const auto tile = std::ranges::find_if(pack.axes, [](const PackStep::Axis& axis) {
    return axis.part == PackStep::Part::kMiddle || axis.part == PackStep::Part::kRemainder;
  });
  pack.axes.insert(tile == pack.axes.end() ? pack.axes.begin() : tile, {.dimension = 0});
}

std::optional<TilePlan> DotPlanner::WholePlan() const {
  const StatementId id = *compute_.FindStatement(sum_);
  TilePlan plan{.lowering = plain_.lowering,
                .compute = std::make_shared<const Compute>(compute_),
                .cache_write = plain_.cache_write,
                .reduction = compute_.statements[id],
                .dot = dot_,
                .followers = plain_.followers,
                .column = column_};
  AssignOutputs(plan);
  for (const VarId v : ReducedIterators(plan.reduction)) {
    if (v == dot_.part_product) continue;
    plan.reduction_size *= plan.Extent(v);
    if (v != paired_) plan.outer_reductions.push_back(v);
  }
  plan.long_reduction = paired_;
  plan.panel_bytes_per_column =
      plan.reduction_size * dot_.column_planes * static_cast<int64_t>(SizeOf(DataType::kBF16));
  plan.column_has_conditions = dot_.columns != plan.Extent(plan.column);
  plan.row_has_conditions = IsOfMatrices() && dot_.rows != plan.Extent(*plan.row);
  PackOperands(plan);
  AssignBefore(plan, id);
  // OrderCopies schedules the statements that copy arguments, together with all other copies.
  if (plan.operand && sources_.contains(plan.operand->statement)) plan.operand.reset();
  std::erase_if(plan.before, [&](const std::string& name) { return sources_.contains(name); });
  return plan;
}

// Returns the number of the sum's products, in multiply-adds of complete vectors.
double ProductsOf(const TilePlan& plan, int64_t lanes) {
  const auto columns = static_cast<double>(plan.Extent(plan.column));
  const auto vectors = static_cast<double>(CeilDivide(plan.Extent(plan.column), lanes));
  return ProductOfExtents(plan.reduction) / columns * vectors;
}

// The elements of an operand that a statement rounds or moves at run time.
struct OperandCopy {
  double elements = 0;
  bool in_vectors = true;  // each vector reads contiguous elements, or a single one
};

OperandCopy CopyOf(const TilePlan& plan, const Read& read) {
  const Compute& compute = *plan.compute;
  const Tensor& tensor = compute.tensors[read.tensor];
  const std::optional<StatementId> maker = compute.FindStatement(tensor.name);
  if (!maker) return {};
  const Statement& copy = compute.statements[*maker];
  const auto is_constant = [&](const Read& source) {
    return compute.tensors[source.tensor].constant;
  };
  if (std::ranges::all_of(copy.reads, is_constant)) return {};
  OperandCopy made{.elements = static_cast<double>(ElementCount(tensor.shape))};
  const VarId along = UsesIterator(read.index, plan.column) ? plan.column : *plan.long_reduction;
  const std::optional<size_t> dimension = DimensionOf(read.index, along);
  const std::optional<VarId> walks =
      dimension ? copy.writes[0].index[*dimension].AsVar() : std::nullopt;
  const int64_t lanes = plan.dot->intrinsic->Extent(TileAxis::kColumn);
  made.in_vectors = walks && copy.iterators[*walks].extent >= lanes &&
                    std::ranges::all_of(copy.reads, [&](const Read& source) {
                      const auto stride =
                          StorageStride(compute, copy, source.tensor, source.index, *walks);
                      return stride == 1 || stride == 0;
                    });
  return made;
}

}  // namespace

std::vector<const TileIntrinsic*> DotInstructions(const Target& target) {
  const auto fits = [&](const TileIntrinsic& intrinsic) {
    const bool of_matrices =
        intrinsic.Extent(TileAxis::kRow) > 1 && intrinsic.Extent(TileAxis::kReduced) > 1;
    const bool of_vectors = intrinsic.Extent(TileAxis::kRow) == 1 &&
                            intrinsic.Extent(TileAxis::kReduced) == 1 &&
                            intrinsic.Extent(TileAxis::kGroup) > 1;
    return (of_vectors || of_matrices) && intrinsic.left.type == DataType::kBF16 &&
           intrinsic.right.type == DataType::kBF16 &&
           intrinsic.accumulator.type == DataType::kF32 &&
           MissingFeatures(intrinsic, target).empty() &&
           target.host.Lanes(static_cast<int>(SizeOf(DataType::kF32))) ==
               intrinsic.Extent(TileAxis::kColumn);
  };
  std::vector<const TileIntrinsic*> found;
  for (const TileIntrinsic& intrinsic : TileIntrinsics()) {
    if (fits(intrinsic)) found.push_back(&intrinsic);
  }
  return found;
}

bool CanRoundToBf16(const RoundingFreedom& rounding, const Target& target) {
  if (rounding.order != ReductionOrder::kAny || rounding.min_bf16_parts != 1) return false;
  if (!target.device) return !DotInstructions(target).empty();
  return std::ranges::any_of(TileIntrinsics(), [&](const TileIntrinsic& intrinsic) {
    return intrinsic.IsOfWarp() && intrinsic.left.type == DataType::kBF16 &&
           MissingFeatures(intrinsic, target).empty();
  });
}

double GainOf(const TilePlan& plan, const TilePlan& plain, double instruction_gain) {
  // Costs in multiply-adds of complete vectors. The costs of three parts by matrices are fitted to
  // the times of 205 kernels of 17 networks on a Xeon with AMX
  // (docs/decisions/0065_gain_of_three_parts.md).
  struct Costs {
    double rounding = 0.8;  // to round an element for one plane, as a part of a vector
    double alone = 30;      // to round an element alone
    double loads = 1;       // time of the products with their loads, relative to the products alone
    double sums = 0;        // to store and add one vector of sums, once for each K-block
  };
  constexpr int64_t kProductsOfThreeParts = 6;
  const int64_t of_parts = plan.dot->part_product ? plan.Extent(*plan.dot->part_product) : 1;
  const Costs costs =
      of_parts == kProductsOfThreeParts ? Costs{.rounding = 2, .loads = 1.75, .sums = 64} : Costs{};
  const int64_t lanes = plan.dot->intrinsic->Extent(TileAxis::kColumn);
  double rounding = 0;
  for (const Read& read : plan.reduction.reads) {
    const OperandCopy copy = CopyOf(plan, read);
    rounding += copy.elements * (copy.in_vectors ? costs.rounding : costs.alone);
  }
  const double products = ProductsOf(plan, lanes);
  double sums = 0;
  if (costs.sums > 0) {
    const int64_t terms = std::max<int64_t>(1, plan.reduction_size * of_parts);
    sums = costs.sums * products / static_cast<double>(terms) *
           static_cast<double>(InitialBlocksOfSum(plan));
  }
  return ProductsOf(plain, lanes) / (products * costs.loads / instruction_gain + rounding + sums);
}

std::optional<TilePlan> MakeDotPlan(const TilePlan& plain, const NamedCompute& lowering,
                                    const TileIntrinsic& intrinsic,
                                    const RoundingFreedom& rounding) {
  const auto plan = [&](bool inlines) {
    return DotPlanner(plain, lowering, intrinsic).Plan(rounding, inlines);
  };
  // An inlined value may be nonzero where its operands are 0. The sum then cannot be padded.
  std::optional<TilePlan> found = plan(/*inlines=*/true);
  return found ? found : plan(/*inlines=*/false);
}

}  // namespace tunec
