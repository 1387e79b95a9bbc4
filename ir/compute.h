// A Compute says what a fusion group computes, not how: tensors, and statements over
// integer iteration domains in an original order. Statement by statement, each over its
// domain in lexicographic order, is its meaning (interpret.h); dependences, not the
// iterator kinds, decide what may be reordered.
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

/// Their places in the vectors of whatever has tensors and statements: a Compute, a LoopNest, a
/// schedule tree.
using TensorId = Id<Tensor>;
using StatementId = Id<Statement>;
using Tensors = IdVector<TensorId, Tensor>;
using Statements = IdVector<StatementId, Statement>;

/// Where a tensor comes from and who sees it.
enum class TensorRole : uint8_t {
  kInput,      // an argument, read only
  kOutput,     // an argument, written
  kWeight,     // an argument whose bytes are known at compile time
  kWorkspace,  // between the statements, shared by all threads
  kLocal,      // private to one iteration of some loop; its Alloc says which
};

/// Logical index -> storage. Storage is dense row-major over `shape`; `map[d]` gives
/// storage index d, its variables being the logical dimensions. An empty layout is
/// row-major. The map is injective on the logical box.
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
  bool constant = false;  // bytes known when compiling, so packing moves there
  bool finite = false;    // a weight, or a copy of one, without infinities and NaNs
  Layout layout;
  int64_t alignment = 0;          // bytes the base address is known to be a multiple of; 0: element
  std::optional<TensorId> alias;  // shares the storage of that tensor (in-place update)
  std::optional<Interval> range;  // all values lie in it (indices of a gather)
  bool operator==(const Tensor&) const = default;
};

/// Elements of storage (not logical elements: blocked layouts pad).
int64_t StorageElements(const Tensor& tensor);
int64_t StorageBytes(const Tensor& tensor);
/// The linear storage index of a logical index, as an expression over the same variables.
IndexExpr StorageOffset(const Tensor& tensor, const std::vector<IndexExpr>& logical);

/// Elements outside the region where all `nonnegative` are >= 0 are not read: they have the
/// value `outside` (0 for padding of a sum, -inf for a maximum).
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

/// How a reduction combines. Per write k: `identity[k]` starts, `combine[k]` is an expression
/// over kAccumulator and kIncoming slots, `finalise[k]` (may be empty: as accumulated) is an
/// expression over kAccumulator slots applied once at the end. Tuples (argmax, Welford) use
/// several slots.
struct Reducer {
  std::string name;
  std::vector<Expr> identity;
  std::vector<Expr> combine;
  std::vector<Expr> finalise;
  /// Whether combining in another order or grouping is the same up to rounding (always true
  /// of the ones below; false makes the reduction a sequential recurrence).
  bool reorderable = true;
  bool operator==(const Reducer&) const = default;

  static Reducer Sum(DataType type);
  static Reducer Product(DataType type);
  static Reducer Max(DataType type);
  static Reducer Min(DataType type);
  /// Slots: value, index (i64). Of equal values the first index wins (last: the last).
  static Reducer ArgMax(DataType type, bool last);
  static Reducer ArgMin(DataType type, bool last);
};

enum class IteratorKind : uint8_t { kParallel, kReduction, kSequential };

struct Iterator {
  std::string name;
  int64_t extent = 0;                           // 0 <= iterator < extent
  IteratorKind kind = IteratorKind::kParallel;  // a claim; dependences decide
  bool operator==(const Iterator&) const = default;
};

using Iterators = IdVector<VarId, Iterator>;

/// One assignment executed at each point of its domain: all reads, then the values, then
/// the writes. With a reducer, each written element starts at the identity before the
/// statement's first instance, and an instance combines its value into it.
struct Statement {
  std::string name;
  Iterators iterators;
  std::vector<IndexExpr> domain;  // further conditions, each >= 0
  std::vector<Read> reads;        // a later read's index may use Loaded(earlier slot)
  std::vector<Write> writes;
  std::vector<Expr> values;  // one per write
  std::optional<Reducer> reducer;
  bool operator==(const Statement&) const = default;

  std::vector<std::string> IteratorNames() const;
  /// 0 <= iterator < extent, for BoundsOf and Simplify.
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

/// Text form, documented in docs/reference/text_formats.md. Parse(Print(x)) == x.
std::string Print(const Compute& compute);
Result<Compute> ParseCompute(std::string_view text, std::string_view file_name);

/// Checks every invariant listed in verify.cc; the error names the statement.
Status Verify(const Compute& compute);

/// Work and traffic, for rooflines: multiply-adds and other arithmetic, bytes touched once.
struct Work {
  double flops = 0;  // a multiply-add counts two
  double bytes = 0;  // every element of an argument that is read or written, once
};
Work CountWork(const Compute& compute);
/// How often the statement is executed; of large domains that are no boxes an estimate.
double CountInstances(const Statement& statement);

}  // namespace tunec
