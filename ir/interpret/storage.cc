#include "ir/interpret/storage.h"

#include <fmt/ranges.h>

namespace tunec {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

bool IsGiven(TensorRole role) { return role == TensorRole::kInput || role == TensorRole::kWeight; }

Status CheckArgument(const Tensor& tensor, const Array& array) {
  if (array.type() == tensor.type && array.shape() == tensor.shape) return {};
  return Fail(ErrorCode::kInvalidArgument, "argument {} is {}{}, expected {}{}", tensor.name,
              Name(array.type()), ShapeText(array.shape()), Name(tensor.type),
              ShapeText(tensor.shape));
}

Status CheckAlias(const Tensor& tensor, const Tensor& target) {
  if (tensor.type == target.type && StorageElements(tensor) == StorageElements(target)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "tensor {} can't share the storage of {}: another type or size", tensor.name,
              target.name);
}

TensorId FollowAlias(const Tensors& tensors, TensorId tensor) {
  // Follows at most as many aliases as there are tensors, so that the loop ends for a cycle.
  for (size_t n = 0; n < tensors.size() && tensors[tensor].alias; ++n) {
    tensor = *tensors[tensor].alias;
  }
  return tensor;
}

}  // namespace

FlatIndex::FlatIndex(IndexExpr expr) : expr_(std::move(expr)) {
  for (const IndexTerm& term : expr_.terms()) {
    affine_ &= term.atom.kind == IndexAtom::Kind::kVariable;
    terms_.emplace_back(term.coefficient, term.atom.variable());
  }
}

Result<Storage> Storage::Create(const Tensors& tensors, std::span<const Array> arguments,
                                Precision precision) {
  Storage storage;
  storage.tensors_ = &tensors;
  storage.precision_ = precision;
  storage.buffers_.resize(tensors.size());
  storage.maps_.resize(tensors.size());
  storage.elements_of_thread_.resize(tensors.size());
  for (const TensorId t : tensors.ids()) {
    const TensorId home = FollowAlias(tensors, t);
    TUNEC_RETURN_IF_ERROR(CheckAlias(tensors[t], tensors[home]));
    auto& buffer = storage.buffers_[home];
    if (StorageElements(tensors[home]) < 0) {
      return Fail(ErrorCode::kInvalidArgument, "tensor {} is too large", tensors[home].name);
    }
    if (!buffer) {
      buffer = std::make_shared<ElementBuffer>(tensors[home].type, StorageElements(tensors[home]));
    }
    storage.buffers_[t] = buffer;
    for (const IndexExpr& index : tensors[t].layout.map) storage.maps_[t].emplace_back(index);
  }
  size_t given = 0;
  for (const TensorId t : tensors.ids()) {
    if (!IsGiven(tensors[t].role)) continue;
    if (given == arguments.size()) {
      return Fail(ErrorCode::kInvalidArgument, "argument {} is missing", tensors[t].name);
    }
    TUNEC_RETURN_IF_ERROR(CheckArgument(tensors[t], arguments[given]));
    storage.Load(t, arguments[given++]);
  }
  if (given < arguments.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} arguments, expected {}", arguments.size(), given);
  }
  return storage;
}

void Storage::Load(TensorId id, const Array& array) {
  int64_t n = 0;
  ForEachIndex(tensor(id).shape, [&](std::span<const int64_t> index) {
    const int64_t offset = Offset(id, index);
    if (offset >= 0) {
      buffer(id).Set(offset, IsFloat(array.type()) ? Scalar::Real(array.GetDouble(n))
                                                   : Scalar::Integer(array.GetInt(n)));
    }
    ++n;
    return true;
  });
}

TensorId Storage::FindAliasOwner(TensorId tensor) const { return FollowAlias(*tensors_, tensor); }

void Storage::MakePerThread(TensorId id, int64_t threads) {
  elements_of_thread_[id] = StorageElements(tensor(id));
  *buffers_[id] = ElementBuffer(tensor(id).type, threads * elements_of_thread_[id]);
}

int64_t Storage::Offset(TensorId id, std::span<const int64_t> logical) const {
  const int64_t offset = OffsetInTensor(id, logical);
  return offset < 0 ? offset : offset + thread_ * elements_of_thread_[id];
}

int64_t Storage::OffsetInTensor(TensorId id, std::span<const int64_t> logical) const {
  const Tensor& t = tensor(id);
  int64_t offset = 0;
  if (t.layout.IsRowMajor()) {
    for (size_t d = 0; d < logical.size(); ++d) offset = offset * t.shape[d] + logical[d];
    return offset;
  }
  for (size_t d = 0; d < t.layout.shape.size(); ++d) {
    const int64_t index = maps_[id][d].At(logical, {});
    if (index < 0 || index >= t.layout.shape[d]) return -1;
    offset = offset * t.layout.shape[d] + index;
  }
  return offset;
}

Result<Array> Storage::TakeOutput(TensorId id) const {
  const Tensor& t = tensor(id);
  const bool wide = precision_ == Precision::kFloat64 && IsFloat(t.type);
  Array array(wide ? DataType::kF64 : t.type, t.shape);
  std::optional<Error> error;
  int64_t n = 0;
  ForEachIndex(t.shape, [&](std::span<const int64_t> index) {
    const int64_t offset = Offset(id, index);
    if (offset < 0 || !buffer(id).Written(offset)) {
      error = MakeError(ErrorCode::kInvalidArgument, "nothing wrote the output {}",
                        PrintElement(t, index));
      return false;
    }
    const Scalar value = buffer(id).Get(offset);
    IsFloat(t.type) ? array.SetDouble(n, value.real) : array.SetInt(n, value.integer);
    ++n;
    return true;
  });
  if (error) return std::unexpected(*error);
  return array;
}

Result<std::vector<Array>> Storage::TakeOutputs() const {
  std::vector<Array> outputs;
  for (const TensorId t : tensors_->ids()) {
    if ((*tensors_)[t].role != TensorRole::kOutput) continue;
    TUNEC_ASSIGN(Array output, TakeOutput(t));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::string PrintElement(const Tensor& tensor, std::span<const int64_t> index) {
  return fmt::format("{}[{}]", tensor.name, fmt::join(index, ", "));
}

}  // namespace tunec
