// The storage of interpreters: per tensor, values by storage offset with a mark on those
// that have been written.
#pragma once

#include <bit>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/array.h"
#include "ir/compute.h"
#include "ir/expr/evaluate_expr.h"

namespace tunec {

/// Elements of one type. Reading one that was not written since the last Clear is an error
/// that the caller reports.
class ElementBuffer {
 public:
  ElementBuffer(DataType type, int64_t elements)
      : is_float_(IsFloat(type)), bits_(elements), written_(elements, 0) {}

  bool Written(int64_t i) const { return written_[i] == epoch_; }
  Scalar Get(int64_t i) const {
    return is_float_ ? Scalar::Real(std::bit_cast<double>(bits_[i]))
                     : Scalar::Integer(static_cast<int64_t>(bits_[i]));
  }
  void Set(int64_t i, const Scalar& value) {
    bits_[i] =
        is_float_ ? std::bit_cast<uint64_t>(value.real) : static_cast<uint64_t>(value.integer);
    written_[i] = epoch_;
  }
  /// Forgets one element.
  void Forget(int64_t i) { written_[i] = 0; }
  /// Forgets every element, as a fresh allocation does. O(1).
  void Clear() { ++epoch_; }
  int64_t size() const { return static_cast<int64_t>(bits_.size()); }

 private:
  bool is_float_;
  std::vector<uint64_t> bits_;
  std::vector<uint32_t> written_;
  uint32_t epoch_ = 1;
};

/// An IndexExpr ready for many evaluations: a flat sum where it has no divisions.
class FlatIndex {
 public:
  explicit FlatIndex(IndexExpr expr);
  int64_t At(std::span<const int64_t> variables, std::span<const int64_t> loaded) const {
    if (!affine_) return Evaluate(expr_, variables, loaded);
    int64_t value = expr_.constant();
    for (const auto& [coefficient, variable] : terms_)
      value += coefficient * variables[variable.index()];
    return value;
  }

 private:
  IndexExpr expr_;
  std::vector<std::pair<int64_t, VarId>> terms_;
  bool affine_ = true;
};

/// All tensors of a Compute or LoopNest; aliases share a buffer. A local tensor's buffer is
/// cleared by the interpreter.
class Storage {
 public:
  /// Takes the arguments: one array per tensor of role input or weight, in tensor order.
  /// Errors: a missing or superfluous argument, a wrong shape or type, an alias that differs.
  static Result<Storage> Create(const Tensors& tensors, std::span<const Array> arguments,
                                Precision precision);

  ElementBuffer& buffer(TensorId tensor) const { return *buffers_[tensor]; }
  const Tensor& tensor(TensorId tensor) const { return (*tensors_)[tensor]; }
  /// The tensor whose storage it shares, mostly itself.
  TensorId Home(TensorId tensor) const;
  /// The offset of an element, and -1 where the layout leaves its storage.
  int64_t Offset(TensorId tensor, std::span<const int64_t> logical) const;
  /// One array per output. Errors: an element that nothing wrote.
  Result<std::vector<Array>> TakeOutputs() const;

 private:
  Result<Array> TakeOutput(TensorId tensor) const;
  void Load(TensorId tensor, const Array& array);

  const Tensors* tensors_ = nullptr;
  IdVector<TensorId, std::shared_ptr<ElementBuffer>> buffers_;
  IdVector<TensorId, std::vector<FlatIndex>> maps_;  // of the layouts
  Precision precision_ = Precision::kNative;
};

/// `A[3, 4]`
std::string PrintElement(const Tensor& tensor, std::span<const int64_t> index);

/// Calls `visit` for every index of the shape in row-major order until it returns false.
template <class Visit>
void ForEachIndex(const std::vector<int64_t>& shape, const Visit& visit) {
  if (ElementCount(shape) <= 0) return;
  std::vector<int64_t> index(shape.size(), 0);
  while (visit(std::span<const int64_t>(index))) {
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace tunec
