// A Compute describes what a fusion group computes, but no loops. It has tensors and statements.
// Each statement runs over an integer iteration domain, in lexicographic order. The result is
// defined by running the statements in their original order (interpret.h). Dependences decide which
// reorderings are legal; iterator kinds do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/data_type.h"
#include "ir/expr/expr.h"
#include "ir/expr/index_expr.h"
#include "support/error.h"
#include "support/id.h"

namespace tunec {

struct Tensor;
struct Statement;

/// Indices of tensors and statements in the lists that contain them.
using TensorId = Id<Tensor>;
using StatementId = Id<Statement>;
using Tensors = IdVector<TensorId, Tensor>;
using Statements = IdVector<StatementId, Statement>;

/// The origin and the visibility of a tensor.
enum class TensorRole : uint8_t {
  kInput,      // an argument, read only
  kOutput,     // an argument, written
  kWeight,     // an argument whose bytes are known at compile time
  kWorkspace,  // an intermediate of the statements, shared by all threads
  kLocal,      // private to one iteration of the loop around its Alloc
};

/// A map from logical indices to storage. Storage is dense row-major over `shape`. `map[d]` is
/// storage index d, an expression over the logical dimensions. An empty layout is row-major over
/// the tensor's shape. The map is injective on the logical index space.
struct Layout {
  std::vector<int64_t> shape;
  std::vector<IndexExpr> map;
  bool IsRowMajor() const { return map.empty(); }
  bool operator==(const Layout&) const = default;
};

struct Tensor {
  std::string name;
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;  // logical; empty for a scalar
  TensorRole role = TensorRole::kWorkspace;
  bool constant = false;  // bytes are known at compile time, so packing moves to compile time
  bool finite = false;    // a weight without infinities and NaNs, or a workspace copy of one
  Layout layout;
  int64_t alignment =
      0;  // the base address is a multiple of this number of bytes; 0: of the element size
  std::optional<TensorId> alias;  // the tensor whose storage is shared (in-place update)
  std::optional<Interval> range;  // bounds of all values (indices of a gather)
  bool operator==(const Tensor&) const = default;
};

/// Return the number of elements and of bytes of the tensor's storage, or negative numbers if
/// ElementCount is negative. Blocked layouts pad, so storage can have more elements than the
/// logical shape.
int64_t StorageElements(const Tensor& tensor);
int64_t StorageBytes(const Tensor& tensor);
/// Returns the flattened storage index of a logical index, as an expression over the same
/// variables.
IndexExpr StorageOffset(const Tensor& tensor, const std::vector<IndexExpr>& logical);

/// The region of a read in which all `nonnegative` are >= 0. Elements outside the region are not
/// read; they have the value `outside` (0 for padding of a sum, -inf for a maximum).
struct Guard {
  std::vector<IndexExpr> nonnegative;
  double outside = 0;
  bool operator==(const Guard&) const = default;
};

struct Read {
  TensorId tensor;
  std::vector<IndexExpr> index;  // logical, one per dimension, over the statement's iterators
  std::optional<Guard> guard;
  bool operator==(const Read&) const = default;
};

struct Write {
  TensorId tensor;
  std::vector<IndexExpr> index;
  bool operator==(const Write&) const = default;
};

/// The combination rule of a reduction. For write k, `identity[k]` is the initial value.
/// `combine[k]` is an expression over kAccumulator and kIncoming slots. `finalise[k]` is an
/// expression over kAccumulator slots, applied once at the end; empty means that the result is the
/// accumulated value. Tuples (argmax, Welford) use several slots.
struct Reducer {
  std::string name;
  std::vector<Expr> identity;
  std::vector<Expr> combine;
  std::vector<Expr> finalise;
  /// True if combining the values in another order or grouping gives the same result up to
  /// rounding. All reducers below are reorderable. A reduction with a reducer that is not
  /// reorderable runs as a sequential recurrence.
  bool reorderable = true;
  bool operator==(const Reducer&) const = default;

  static Reducer Sum(DataType type);
  static Reducer Product(DataType type);
  static Reducer Max(DataType type);
  static Reducer Min(DataType type);
  /// Return reducers whose slot 0 is the value and whose slot 1 is its index (i64). Of equal
  /// values, the last one counts if `last`, and the first one otherwise.
  static Reducer ArgMax(DataType type, bool last);
  static Reducer ArgMin(DataType type, bool last);
};

enum class IteratorKind : uint8_t { kParallel, kReduction, kSequential };

struct Iterator {
  std::string name;
  int64_t extent = 0;                           // 0 <= iterator < extent
  IteratorKind kind = IteratorKind::kParallel;  // a claim that dependences must confirm
  bool operator==(const Iterator&) const = default;
};

using Iterators = IdVector<VarId, Iterator>;

/// One assignment, executed at each point of its domain: first all reads, then the values, then the
/// writes. With a reducer, each written element starts at the identity before the statement's first
/// instance. Each instance combines its values into the written elements.
struct Statement {
  std::string name;
  Iterators iterators;
  std::vector<IndexExpr> domain;  // additional conditions, each >= 0
  std::vector<Read> reads;        // a later read's index may use Loaded(earlier slot)
  std::vector<Write> writes;
  std::vector<Expr> values;  // one per write
  std::optional<Reducer> reducer;
  bool operator==(const Statement&) const = default;

  std::vector<std::string> IteratorNames() const;
  /// Returns the range 0 <= iterator < extent of each iterator, for BoundsOf and Simplify.
  IntervalOf Intervals() const;
};

struct Compute {
  std::string name;
  Tensors tensors;
  Statements statements;  // in original order
  bool operator==(const Compute&) const = default;

  std::optional<TensorId> FindTensor(std::string_view tensor_name) const;
  std::optional<StatementId> FindStatement(std::string_view statement_name) const;
};

/// Print and parse the text form, which docs/reference/text_formats.md documents. Parsing the
/// printed text of a valid Compute gives an equal Compute.
std::string Print(const Compute& compute);
Result<Compute> ParseCompute(std::string_view text, std::string_view file_name);

/// Checks the invariants listed in verify/verify.cc. The error names the tensor or the statement.
Status Verify(const Compute& compute);

/// The arithmetic and the memory traffic of a Compute.
struct Work {
  double flops = 0;  // operations in values and in combinations of reducers; an fma counts as two
  double bytes = 0;  // estimated size of the argument elements that are read or written; at
                     // most that of the whole arguments
};
Work CountWork(const Compute& compute);
/// Returns how often the statement is executed. The number is an estimate if conditions of the
/// domain connect iterators whose extents have a product of more than 2^14.
double CountInstances(const Statement& statement);

}  // namespace tunec
