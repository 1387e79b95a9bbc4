// A statement or store in a form that both interpreters can execute many times.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/interpret/races.h"
#include "ir/interpret/storage.h"
#include "ir/loop_nest.h"
#include "ir/text/print_statement.h"

namespace tunec {

/// A read or write of a tensor at computed indices.
class ElementAccess {
 public:
  ElementAccess(const Storage& storage, TensorId tensor, const std::vector<IndexExpr>& index);
  /// Returns the offset in the buffer. Fails for an index outside the tensor or its storage.
  Result<int64_t> Locate(std::span<const int64_t> variables, std::span<const int64_t> loaded);
  ElementBuffer& buffer() const { return *buffer_; }
  /// Returns the text of the element of the last Locate, for messages.
  std::string Element() const;
  TensorId tensor() const { return tensor_; }

 private:
  const Storage* storage_;
  ElementBuffer* buffer_;
  TensorId tensor_;
  std::vector<FlatIndex> index_;
  std::vector<int64_t> at_;
};

/// One element that is being copied from one tensor to another.
struct ElementCopy {
  TensorId from;
  int64_t from_offset = -1;  // -1: the value outside a guard is copied
  Scalar value;
  TensorId to;
  int64_t to_offset = 0;
  RaceDetector::Thread thread = {};   // thread that issued the copy
  const std::string* name = nullptr;  // name of the assignment
};

/// An assignment of a statement, a store or an asynchronous copy. Run executes all reads first,
/// then the values, then the writes. The old value of a reduction depends on the interpreter. The
/// reduction of a Compute starts at the identity, and that of a LoopNest at the stored value.
class CompiledAssignment {
 public:
  /// A function that returns the accumulator of a write at a buffer offset. It returns nothing if
  /// the accumulator is the value in the buffer.
  using OldValue = std::function<std::optional<Scalar>(size_t write, int64_t offset)>;

  /// Compiles the assignment. Its executions report every access to `races`, unless `races` is
  /// null. `contraction` decides whether a product is fused with the sum of a reduction.
  CompiledAssignment(const Storage& storage, const Assignment& assignment, std::string name,
                     Contraction contraction, Precision precision, RaceDetector* races = nullptr);

  /// Executes the assignment. `old_value` is used by reductions only; without it, accumulators are
  /// read from the buffers. Fails for an index outside its tensor or storage, a read of an
  /// unwritten element, an integer division by zero, and a race.
  Status Run(std::span<const int64_t> variables, const OldValue& old_value);
  /// Begins a copy of one element: reads the source and marks the destination as unwritten. Fails
  /// like Run.
  Result<ElementCopy> BeginCopy(std::span<const int64_t> variables);
  /// Returns for each write the buffer offset of the last Run.
  const std::vector<int64_t>& offsets() const { return offsets_; }
  ElementAccess& write(size_t k) { return writes_[k]; }

 private:
  struct CompiledRead {
    ElementAccess access;
    std::vector<FlatIndex> guard;
    bool guarded = false;
    Scalar outside;
    DataType type = DataType::kF32;
    int64_t offset = -1;  // offset of the last load; -1: outside the guard
  };
  /// The operands of a contracted sum: acc + left*right is computed as one fma.
  struct Product {
    ExprProgram left;
    ExprProgram right;
    DataType type = DataType::kF32;
  };

  void CompileCombine(const Assignment& assignment, Contraction contraction);
  Status LoadReads(std::span<const int64_t> variables);
  Status LocateWrites(std::span<const int64_t> variables);
  Status LoadAccumulators(const OldValue& old_value);
  Scalar NewValue(size_t k, const ExprInputs& inputs) const;
  std::unexpected<Error> Failed(std::string message) const;

  Status CheckRaces(int64_t read_offset, const ElementAccess& read) const;
  Status CheckRaces() const;

  std::string name_;
  Precision precision_;
  RaceDetector* races_ = nullptr;
  std::vector<CompiledRead> reads_;
  std::vector<ElementAccess> writes_;
  std::vector<ExprProgram> values_;
  std::vector<ExprProgram> combine_;
  std::vector<std::optional<Product>> products_;
  bool reduces_ = false;
  std::vector<Scalar> read_values_;
  std::vector<int64_t> loaded_;
  std::vector<Scalar> accumulators_;
  std::vector<Scalar> incoming_;
  std::vector<int64_t> offsets_;
  std::vector<Scalar> results_;
};

}  // namespace tunec
