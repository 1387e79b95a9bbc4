#include "ir/interpret/assignment.h"

#include <fmt/ranges.h>

#include "ir/rounding.h"

namespace tunec {
namespace {

Scalar OutsideValue(double value, DataType type, Precision precision) {
  if (!IsFloat(type)) return Scalar::Integer(SaturateToInt(value, type));
  return Scalar::Real(precision == Precision::kNative ? RoundTo(value, type) : value);
}

// Returns whether `combine` is accumulator k plus incoming value k, in a float type. A product may
// be contracted with such a sum.
bool IsSum(const Expr& combine, size_t k) {
  if (!combine.Is(ScalarOp::kAdd) || !IsFloat(combine.type())) return false;
  const Expr& a = combine.operands()[0];
  const Expr& b = combine.operands()[1];
  const auto slot = static_cast<int>(k);
  return a.kind() == ExprKind::kAccumulator && a.node().slot == slot &&
         b.kind() == ExprKind::kIncoming && b.node().slot == slot;
}

}  // namespace

ElementAccess::ElementAccess(const Storage& storage, TensorId tensor,
                             const std::vector<IndexExpr>& index)
    : storage_(&storage), buffer_(&storage.buffer(tensor)), tensor_(tensor), at_(index.size()) {
  for (const IndexExpr& expr : index) index_.emplace_back(expr);
}

Result<int64_t> ElementAccess::Locate(std::span<const int64_t> variables,
                                      std::span<const int64_t> loaded) {
  const Tensor& tensor = storage_->tensor(tensor_);
  bool inside = true;
  for (size_t d = 0; d < index_.size(); ++d) {
    at_[d] = index_[d].At(variables, loaded);
    inside &= at_[d] >= 0 && at_[d] < tensor.shape[d];
  }
  const int64_t offset = inside ? storage_->Offset(tensor_, at_) : -1;
  if (offset >= 0) return offset;
  return Fail(ErrorCode::kInvalidArgument, "{} is outside its shape [{}]", Element(),
              fmt::join(tensor.shape, ", "));
}

std::string ElementAccess::Element() const { return PrintElement(storage_->tensor(tensor_), at_); }

CompiledAssignment::CompiledAssignment(const Storage& storage, const Assignment& assignment,
                                       std::string name, Contraction contraction,
                                       Precision precision, RaceDetector* races)
    : name_(std::move(name)), precision_(precision), races_(races) {
  for (const Read& read : assignment.reads) {
    const DataType type = storage.tensor(read.tensor).type;
    CompiledRead compiled{ElementAccess(storage, read.tensor, read.index), {}, false, {}, type, -1};
    if (read.guard) {
      compiled.guarded = true;
      compiled.outside = OutsideValue(read.guard->outside, type, precision);
      for (const IndexExpr& e : read.guard->nonnegative) compiled.guard.emplace_back(e);
    }
    reads_.push_back(std::move(compiled));
  }
  for (const Write& write : assignment.writes) {
    writes_.emplace_back(storage, write.tensor, write.index);
  }
  for (const Expr& value : assignment.values) values_.emplace_back(value, precision);
  CompileCombine(assignment, contraction);
  read_values_.resize(reads_.size());
  loaded_.resize(reads_.size());
  accumulators_.resize(writes_.size());
  incoming_.resize(writes_.size());
  offsets_.resize(writes_.size());
  results_.resize(writes_.size());
}

void CompiledAssignment::CompileCombine(const Assignment& assignment, Contraction contraction) {
  if (!assignment.reducer) return;
  reduces_ = true;
  for (size_t k = 0; k < assignment.values.size(); ++k) {
    const Expr& combine = assignment.reducer->combine[k];
    const Expr& value = assignment.values[k];
    combine_.emplace_back(combine, precision_);
    auto& product = products_.emplace_back();
    const bool contracted =
        contraction == Contraction::kFused && IsSum(combine, k) && value.Is(ScalarOp::kMul);
    if (!contracted) continue;
    product.emplace(ExprProgram(value.operands()[0], precision_),
                    ExprProgram(value.operands()[1], precision_), value.type());
  }
}

std::unexpected<Error> CompiledAssignment::Failed(std::string message) const {
  return Fail(ErrorCode::kInvalidArgument, "{}: {}", name_, message);
}

Status CompiledAssignment::LoadReads(std::span<const int64_t> variables) {
  for (size_t s = 0; s < reads_.size(); ++s) {
    CompiledRead& read = reads_[s];
    bool inside = true;
    for (const FlatIndex& condition : read.guard) {
      inside = inside && condition.At(variables, loaded_) >= 0;
    }
    if (!inside) {
      read_values_[s] = read.outside;
      read.offset = -1;
    } else {
      const auto offset = read.access.Locate(variables, loaded_);
      if (!offset) return Failed("read of " + offset.error().message);
      if (!read.access.buffer().Written(*offset)) {
        return Failed(fmt::format("read of {}, which nothing wrote", read.access.Element()));
      }
      TUNEC_RETURN_IF_ERROR(CheckRaces(*offset, read.access));
      read_values_[s] = read.access.buffer().Get(*offset);
      read.offset = *offset;
    }
    loaded_[s] = read_values_[s].integer;
  }
  return {};
}

Status CompiledAssignment::CheckRaces(int64_t read_offset, const ElementAccess& read) const {
  if (races_ == nullptr) return {};
  const Status status = races_->Read(read.tensor(), read_offset, name_);
  if (status) return {};
  return Failed(fmt::format("{}: {}", read.Element(), status.error().message));
}

// Reports the located writes to the race detector, if there is one. Fails for a race.
Status CompiledAssignment::CheckRaces() const {
  if (races_ == nullptr) return {};
  for (size_t k = 0; k < writes_.size(); ++k) {
    const Status status = races_->Write(writes_[k].tensor(), offsets_[k], name_);
    if (!status) return Failed(fmt::format("{}: {}", writes_[k].Element(), status.error().message));
  }
  return {};
}

Status CompiledAssignment::LoadAccumulators(const OldValue& old_value) {
  for (size_t k = 0; k < writes_.size(); ++k) {
    const auto old = old_value ? old_value(k, offsets_[k]) : std::nullopt;
    if (old) {
      accumulators_[k] = *old;
      continue;
    }
    if (!writes_[k].buffer().Written(offsets_[k])) {
      return Failed(fmt::format("accumulation into {}, which nothing wrote", writes_[k].Element()));
    }
    accumulators_[k] = writes_[k].buffer().Get(offsets_[k]);
  }
  return {};
}

Scalar CompiledAssignment::NewValue(size_t k, const ExprInputs& inputs) const {
  if (!reduces_) return incoming_[k];
  if (!products_[k]) return combine_[k].Run(inputs);
  const Scalar operands[] = {products_[k]->left.Run(inputs), products_[k]->right.Run(inputs),
                             accumulators_[k]};
  return ApplyOp(ScalarOp::kFma, products_[k]->type, operands, precision_);
}

Status CompiledAssignment::LocateWrites(std::span<const int64_t> variables) {
  for (size_t k = 0; k < writes_.size(); ++k) {
    const auto offset = writes_[k].Locate(variables, loaded_);
    if (!offset) return Failed("write of " + offset.error().message);
    offsets_[k] = *offset;
  }
  return CheckRaces();
}

Result<ElementCopy> CompiledAssignment::BeginCopy(std::span<const int64_t> variables) {
  TUNEC_RETURN_IF_ERROR(LoadReads(variables));
  TUNEC_RETURN_IF_ERROR(LocateWrites(variables));
  ElementCopy copy{.from = reads_[0].access.tensor(),
                   .from_offset = reads_[0].offset,
                   .value = read_values_[0],
                   .to = writes_[0].tensor(),
                   .to_offset = offsets_[0],
                   .name = &name_};
  if (races_ != nullptr) copy.thread = races_->thread();
  writes_[0].buffer().Forget(offsets_[0]);
  return copy;
}

Status CompiledAssignment::Run(std::span<const int64_t> variables, const OldValue& old_value) {
  TUNEC_RETURN_IF_ERROR(LoadReads(variables));
  TUNEC_RETURN_IF_ERROR(LocateWrites(variables));
  if (reduces_) TUNEC_RETURN_IF_ERROR(LoadAccumulators(old_value));
  const ExprInputs inputs{read_values_, accumulators_, incoming_, variables, loaded_};
  for (size_t k = 0; k < values_.size(); ++k) incoming_[k] = values_[k].Run(inputs);
  for (size_t k = 0; k < values_.size(); ++k) {
    results_[k] = NewValue(k, inputs);
    if (results_[k].invalid) return Failed("integer division by zero");
  }
  for (size_t k = 0; k < writes_.size(); ++k) writes_[k].buffer().Set(offsets_[k], results_[k]);
  return {};
}

}  // namespace tunec
