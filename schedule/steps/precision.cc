// precision: splits the operands of a float32 sum of products into bfloat16 parts.
//
// With f32(x) = h + m + l, each part is the bfloat16 nearest to the remainder after the earlier
// parts. A product of two operands is the sum of the products of their parts. Only the leading
// products are computed: one for one part each, three for two parts each, six for three parts each.
// With six products, the omitted part is less than the rounding of float32.
//
// An infinity or NaN must reach the result unchanged, and must not be multiplied by zero parts of
// the other operand. With several parts, the first part is therefore stored twice: `h` unchanged,
// for the product of the two first parts only, and `h0`, zero for an operand that is not finite,
// for the other products. A finite operand that would round to infinity uses the largest bfloat16
// as `h`, and its second part takes the rest. A denormal operand uses the smallest normal number as
// `h`, so that an infinity times the operand remains an infinity. Numbers below 2^-109 may lose low
// parts, because processors flush denormal parts to zero. The error of a product is then at most
// 2^-126 times its other operand. A product beyond float32 overflows as usual, but its parts may
// overflow in either direction.
//
// A weight that is known to be finite does not need `h0`: its `h` is 0 only if the weight is 0, and
// replaces `h0`. This `h` is multiplied by an infinity of the other operand only in the last
// product.
//
// The parts of an operand are planes of one tensor: h0 m l h, or h m l for finite operands (two
// parts: h0 m h, h m). A reduction iterator walks the products, the largest one last. The planes of
// each operand are quasi-affine in this iterator.
//   two parts:    (h0 m) (m h0) (h h)
//   three parts:  (h0 l) (h0 m) (m m) (m h0) (l h0) (h h)
//
// If only one operand is finite, the finite operand uses the planes of the right operand. The last
// products (three for three parts) then share one `h`. The iterator `term` is the outermost of the
// reduction. All small products are added up before the large ones, so there are as many large
// roundings as in a float32 sum.
#include <algorithm>
#include <optional>
#include <utility>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

constexpr double kLargestBFloat16 = 0x1.FEp127;
constexpr double kLargestFloat = 0x1.FFFFFEp127;
constexpr double kSmallestNormal = 0x1p-126;
constexpr const char* kIterator = "term";

// Both functions below return the number of an operand's plane that product p uses. The bounds that
// BoundsOf finds for these expressions must be exact, because the storage of copies depends on
// these bounds.

// Returns the planes for the parts h0 h0 m m l h, or h0 m h if there are two parts. In a finite
// operand, h replaces h0.
IndexExpr AscendingPlanes(int bf16_parts, bool finite, const IndexExpr& p) {
  if (bf16_parts == 2) return finite ? IndexExpr::Mod(p, 2) : p;
  const IndexExpr planes = IndexExpr::FloorDiv(p, 2) + IndexExpr::FloorDiv(p, 5);
  return finite ? IndexExpr::Mod(planes, 3) : planes;
}

// Returns the planes for the parts l m m h0 h0 h, or m h0 h if there are two parts. In a finite
// operand, h replaces h0.
IndexExpr DescendingPlanes(int bf16_parts, bool finite, const IndexExpr& p) {
  if (bf16_parts == 2) {
    return finite ? IndexExpr(1) - IndexExpr::FloorDiv(p + 1, 2)
                  : IndexExpr::Mod(IndexExpr(1) - p, 3);
  }
  return finite ? IndexExpr(2) - IndexExpr::FloorDiv(p * 2 + 4, 5)
                : IndexExpr::Mod(IndexExpr(2) - IndexExpr::FloorDiv(p + 1, 2), 4);
}

constexpr int kProducts[] = {0, 1, 3, 6};  // by number of parts

struct SplitProduct {
  StatementId statement;
  int slots[2] = {0, 0};             // slots of the operands' reads
  bool is_bf16[2] = {false, false};  // a bfloat16 operand, which is left unchanged
};

std::unexpected<Error> Reject(const PrecisionStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "precision {}: {}", step.statement, why);
}

// Returns the slot of a factor that is a bfloat16 read cast to float32; nothing for other factors.
std::optional<int> FindBf16Slot(const Expr& factor) {
  if (factor.kind() != ExprKind::kCast || factor.type() != DataType::kF32) return std::nullopt;
  const Expr& read = factor.operands()[0];
  const bool is_bf16 = read.kind() == ExprKind::kRead && read.type() == DataType::kBF16;
  return is_bf16 ? std::optional(read.node().slot) : std::nullopt;
}

bool IsFloatRead(const Expr& factor) {
  return factor.kind() == ExprKind::kRead && factor.type() == DataType::kF32;
}

// Checks for an f32 sum of products of two f32 reads. With one part, one read may be bf16 instead.
bool IsProductOfReads(const Statement& statement, int bf16_parts) {
  if (statement.reducer != Reducer::Sum(DataType::kF32) || statement.values.size() != 1) {
    return false;
  }
  const Expr& value = statement.values[0];
  if (!value.Is(ScalarOp::kMul) || std::ranges::none_of(value.operands(), IsFloatRead)) {
    return false;
  }
  return std::ranges::all_of(value.operands(), [&](const Expr& factor) {
    return IsFloatRead(factor) || (bf16_parts == 1 && FindBf16Slot(factor));
  });
}

// Checks that the statement's first write reaches every element of the tensor. Dimensions of extent
// 1 may have a constant index; all others must have different iterators.
bool WritesAll(const Statement& statement, const Tensor& tensor, TensorId id) {
  const Write& write = statement.writes[0];
  if (write.tensor != id || !statement.domain.empty() || !NamesDimensions(write.index)) {
    return false;
  }
  for (size_t d = 0; d < write.index.size(); ++d) {
    const std::optional<VarId> iterator = write.index[d].AsVar();
    const int64_t extent = iterator ? statement.iterators[*iterator].extent : 1;
    if (extent != tensor.shape[d]) return false;
  }
  return true;
}

// Checks that all elements of the operand have a value when the statement begins. The statement
// must not change the operand. The index must not be loaded, and a guard must have the value 0.
Status CheckOperand(const Compute& compute, const PrecisionStep& step, StatementId statement,
                    const Read& read) {
  const Tensor& tensor = compute.tensors[read.tensor];
  const auto home = [&](TensorId id) { return compute.tensors[id].alias.value_or(id); };
  if (home(compute.statements[statement].writes[0].tensor) == home(read.tensor)) {
    return Reject(step, fmt::format("it writes its operand {}", tensor.name));
  }
  bool known = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
  for (StatementId s(0); s < statement && !known; ++s) {
    known = WritesAll(compute.statements[s], tensor, read.tensor);
  }
  if (!known) {
    return Reject(step, fmt::format("not all of its operand {} may be written", tensor.name));
  }
  const auto is_loaded = [](const IndexExpr& index) { return index.UsesLoaded(); };
  if (std::ranges::any_of(read.index, is_loaded)) {
    return Reject(step, fmt::format("the index of its operand {} is loaded", tensor.name));
  }
  if (read.guard && read.guard->outside != 0) {
    return Reject(step, fmt::format("its operand {} is {} outside of its guard", tensor.name,
                                    read.guard->outside));
  }
  return {};
}

Result<SplitProduct> FindProduct(const Compute& compute, const PrecisionStep& step) {
  const std::optional<StatementId> id = compute.FindStatement(step.statement);
  if (!id) return Reject(step, "there is no such statement");
  if (step.bf16_parts < 1 || step.bf16_parts > 3) {
    return Reject(step, fmt::format("{} terms, expected 1 to 3", step.bf16_parts));
  }
  const Statement& statement = compute.statements[*id];
  if (!IsProductOfReads(statement, step.bf16_parts)) {
    return Reject(step, "it is not a sum of products of two f32 elements");
  }
  const auto has_name = [](const Iterator& it) { return it.name == kIterator; };
  if (std::ranges::any_of(statement.iterators, has_name)) {
    return Reject(step, fmt::format("there is an iterator {} already", kIterator));
  }
  SplitProduct product{.statement = *id};
  for (size_t i = 0; i < 2; ++i) {
    const Expr& factor = statement.values[0].operands()[i];
    const std::optional<int> bf16_slot = FindBf16Slot(factor);
    product.is_bf16[i] = bf16_slot.has_value();
    product.slots[i] = bf16_slot ? *bf16_slot : factor.node().slot;
    if (bf16_slot) continue;
    TUNEC_RETURN_IF_ERROR(CheckOperand(compute, step, *id, statement.reads[product.slots[i]]));
  }
  return product;
}

Expr BFloat16(Expr value) { return Expr::Cast(std::move(value), DataType::kBF16); }

// Returns the values of the planes of element `x`, as described at the top of this file.
std::vector<Expr> SplitIntoBf16Parts(const Expr& x, int bf16_parts, bool is_finite) {
  const auto literal = [](double value) { return Expr::Constant(value, DataType::kF32); };
  const auto clamped = [&](const Expr& value) {
    return Max(Min(value, literal(kLargestBFloat16)), literal(-kLargestBFloat16));
  };
  const Expr finite =
      Expr::Apply(ScalarOp::kLe, {Unary(ScalarOp::kAbs, x), literal(kLargestFloat)});
  const Expr tiny =
      Expr::Apply(ScalarOp::kLt, {Unary(ScalarOp::kAbs, x), literal(kSmallestNormal)});
  const Expr first =
      BFloat16(Expr::Select(tiny, Unary(ScalarOp::kSign, x) * literal(kSmallestNormal),
                            is_finite ? clamped(x) : Expr::Select(finite, clamped(x), x)));
  std::vector<Expr> planes;
  const auto add_rest = [&](Expr rest) {
    while (static_cast<int>(planes.size()) < bf16_parts) {
      rest = rest - Expr::Cast(planes.back(), DataType::kF32);
      planes.push_back(BFloat16(rest));
    }
  };
  if (is_finite || bf16_parts == 1) {
    planes.push_back(first);
    add_rest(x);
    return planes;
  }
  const Expr number = Expr::Select(finite, x, literal(0));
  planes.push_back(BFloat16(clamped(number)));
  add_rest(number);
  planes.push_back(first);
  return planes;
}

// Adds the tensor T.bf16 to the Compute. Returns the statement T.bf16 that computes this tensor.
Statement SplitStatement(Compute& compute, TensorId from, int bf16_parts) {
  const Tensor& source = compute.tensors[from];
  std::vector<Expr> values =
      SplitIntoBf16Parts(Expr::Read(0, source.type), bf16_parts, source.finite);
  const auto planes = std::ssize(values);
  Tensor tensor{.name = source.name + ".bf16",
                .type = DataType::kBF16,
                .shape = source.shape,
                .role = TensorRole::kWorkspace,
                .constant = source.constant && source.role == TensorRole::kWeight,
                .alignment = 64};
  if (planes > 1) tensor.shape.insert(tensor.shape.begin(), planes);
  const TensorId id = compute.tensors.next_id();
  Statement split{.name = tensor.name};
  const std::vector<IndexExpr> index = AddElementIterators(source.shape, split);
  split.values = std::move(values);
  split.reads.push_back({from, index, {}});
  for (int64_t plane = 0; plane < planes; ++plane) {
    Write write{id, index};
    if (planes > 1) write.index.insert(write.index.begin(), IndexExpr(plane));
    split.writes.push_back(std::move(write));
  }
  compute.tensors.push_back(std::move(tensor));
  return split;
}

// Returns the outermost reduced iterator, or the id after all iterators if none is reduced.
VarId FirstReduced(const Statement& statement) {
  for (const VarId i : statement.iterators.ids()) {
    const auto is_written = [&](const IndexExpr& index) { return index.Uses(i); };
    if (std::ranges::none_of(statement.writes[0].index, is_written)) return i;
  }
  return statement.iterators.next_id();
}

void InsertIterator(Statement& statement, VarId position, Iterator iterator) {
  const auto shift = [&](std::vector<IndexExpr>& all) {
    for (IndexExpr& index : all) {
      index =
          Substitute(index, [&](VarId v) { return IndexExpr::Var(v < position ? v : v.next()); });
    }
  };
  shift(statement.domain);
  for (Read& read : statement.reads) {
    shift(read.index);
    if (read.guard) shift(read.guard->nonnegative);
  }
  for (Write& write : statement.writes) shift(write.index);
  statement.iterators.insert(position, std::move(iterator));
}

}  // namespace

std::vector<TensorId> SplitOperands(const Statement& statement) {
  constexpr int kSeveral = 2;
  if (!IsProductOfReads(statement, kSeveral)) return {};
  std::vector<TensorId> operands;
  for (const Expr& factor : statement.values[0].operands()) {
    operands.push_back(statement.reads[factor.node().slot].tensor);
  }
  return operands;
}

Result<Compute> Apply(const Compute& compute, const PrecisionStep& step) {
  TUNEC_ASSIGN(const SplitProduct product, FindProduct(compute, step));
  Compute result = compute;
  Statement sum = compute.statements[product.statement];
  const VarId position = FirstReduced(sum);
  const bool in_planes = step.bf16_parts > 1;
  if (in_planes) {
    InsertIterator(sum, position,
                   {kIterator, kProducts[step.bf16_parts], IteratorKind::kReduction});
  }
  const auto is_finite = [&](size_t operand) {
    return compute.tensors[sum.reads[product.slots[operand]].tensor].finite;
  };
  const size_t descending = is_finite(0) && !is_finite(1) ? 0 : 1;
  std::vector<Statement> splits;
  std::vector<Read> reads;
  for (size_t i = 0; i < 2; ++i) {
    Read read = sum.reads[product.slots[i]];
    if (product.is_bf16[i]) {
      reads.push_back(std::move(read));
      continue;
    }
    const std::string name = compute.tensors[read.tensor].name + ".bf16";
    if (compute.FindTensor(name)) {
      return Reject(step, fmt::format("there is {} already", name));
    }
    if (!result.FindTensor(name)) {
      splits.push_back(SplitStatement(result, read.tensor, step.bf16_parts));
    }
    read.tensor = *result.FindTensor(name);
    if (in_planes) {
      const auto planes_of = i == descending ? DescendingPlanes : AscendingPlanes;
      read.index.insert(read.index.begin(),
                        planes_of(step.bf16_parts, is_finite(i), IndexExpr::Var(position)));
    }
    reads.push_back(std::move(read));
  }
  sum.reads = std::move(reads);
  const auto operand = [](int slot) {
    return Expr::Cast(Expr::Read(slot, DataType::kBF16), DataType::kF32);
  };
  sum.values = {operand(0) * operand(1)};
  auto& statements = result.statements;
  statements[product.statement] = std::move(sum);
  statements.insert(product.statement, std::make_move_iterator(splits.begin()),
                    std::make_move_iterator(splits.end()));
  return result;
}

}  // namespace tunec
