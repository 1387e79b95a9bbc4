// The storage of the interpreters. It holds the elements of each tensor by storage offset, and
// records which elements were written.
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

/// A buffer of elements of one type. It records which elements are written. The caller must reject
/// a read of an unwritten element.
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
  /// Marks one element as unwritten.
  void Forget(int64_t i) { written_[i] = 0; }
  /// Marks every element as unwritten, as after a fresh allocation. O(1).
  void Clear() { ++epoch_; }
  int64_t size() const { return static_cast<int64_t>(bits_.size()); }

 private:
  bool is_float_;
  std::vector<uint64_t> bits_;
  std::vector<uint32_t> written_;
  uint32_t epoch_ = 1;
};

/// An index expression prepared for many evaluations. If all its atoms are variables, it is
/// evaluated as a flat sum.
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

/// The storage of all tensors of a Compute or LoopNest. Aliases share a buffer. The interpreter of
/// loop nests clears the buffer of a local tensor at its Alloc.
class Storage {
 public:
  /// Allocates the tensors and stores the arguments, which are one array per tensor of role input
  /// or weight, in tensor order. Fails if an argument is missing, superfluous, or of a wrong shape
  /// or type. Also fails for an alias of another type or size, and for a tensor that is too large.
  static Result<Storage> Create(const Tensors& tensors, std::span<const Array> arguments,
                                Precision precision);

  /// Gives each of `threads` threads its own elements of the tensor. The tensor must not share its
  /// storage with another tensor, and none of its elements may have been written.
  void MakePerThread(TensorId tensor, int64_t threads);
  bool IsPerThread(TensorId tensor) const { return elements_of_thread_[tensor] > 0; }
  /// Selects the thread whose elements of per-thread tensors later calls of Offset locate.
  void SelectThread(int64_t thread) { thread_ = thread; }

  ElementBuffer& buffer(TensorId tensor) const { return *buffers_[tensor]; }
  const Tensor& tensor(TensorId tensor) const { return (*tensors_)[tensor]; }
  /// Returns the tensor whose storage `tensor` shares. Without an alias it is `tensor` itself.
  TensorId FindAliasOwner(TensorId tensor) const;
  /// Returns the offset of an element, or -1 if the layout maps it outside its storage.
  int64_t Offset(TensorId tensor, std::span<const int64_t> logical) const;
  /// Returns one array per output. Fails if an element of an output was not written.
  Result<std::vector<Array>> TakeOutputs() const;

 private:
  Result<Array> TakeOutput(TensorId tensor) const;
  void Load(TensorId tensor, const Array& array);
  int64_t OffsetInTensor(TensorId tensor, std::span<const int64_t> logical) const;

  const Tensors* tensors_ = nullptr;
  IdVector<TensorId, std::shared_ptr<ElementBuffer>> buffers_;
  IdVector<TensorId, std::vector<FlatIndex>> maps_;  // index maps from the tensors' layouts
  IdVector<TensorId, int64_t> elements_of_thread_;   // 0: all threads have the same elements
  int64_t thread_ = 0;
  Precision precision_ = Precision::kNative;
};

/// Returns the text of an element, such as `A[3, 4]`.
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
