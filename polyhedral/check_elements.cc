// The checks of CheckElements.
//
// Inside: the set of instances with an index below 0 or not below the extent must be empty. If
// intervals cannot decide and no loaded value is involved, isl computes the set. Guards of reads
// are considered.
//
// Written: statements run one after another. A statement may read elements written by earlier
// statements or by its own earlier instances. The set of all other elements that the statement
// reads must be empty, and so must the set of output elements that no statement writes. A reduction
// counts as writing every element reached by the iterators of its writes, whatever the other
// conditions are: all of these that are read start at the identity (schedule_tree.cc). If the index
// or condition of a write depends on loaded values, the write counts as writing all possible
// elements. If the index or condition of a read depends on loaded values, only some writer of the
// tensor is required. Storage of inputs and weights is not checked.
#include "polyhedral/check_elements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "ir/loaded_range.h"
#include "polyhedral/access.h"
#include "polyhedral/isl_handles.h"
#include "polyhedral/relations.h"

namespace tunec {
namespace {

constexpr unsigned long kIslOperations = 2'000'000;

bool AnyLoaded(const std::vector<IndexExpr>& exprs) {
  return std::ranges::any_of(exprs, &IndexExpr::UsesLoaded);
}

bool IsWithin(const Interval& interval, int64_t extent) {
  return interval.lo >= 0 && interval.hi < extent;
}

/// Returns the coordinates of the lexicographically smallest point of `set`. Returns nullopt if the
/// set is empty or isl gives no answer.
std::optional<std::vector<int64_t>> FirstPoint(isl::Set set) {
  if (!set.ok() || isl_set_is_empty(set.get()) != isl_bool_false) return std::nullopt;
  const auto dimensions = static_cast<int>(isl_set_dim(set.get(), isl_dim_set));
  const isl::Point point(isl_set_sample_point(isl_set_lexmin(set.take())));
  if (!point.ok()) return std::nullopt;
  std::vector<int64_t> coordinates;
  for (int d = 0; d < dimensions; ++d) {
    isl_val* value = isl_point_get_coordinate_val(point.get(), isl_dim_set, d);
    coordinates.push_back(isl_val_get_num_si(value));
    isl_val_free(value);
  }
  return coordinates;
}

class ElementChecker {
 public:
  explicit ElementChecker(const Compute& compute) : compute_(compute) {
    isl_ctx_set_max_operations(context_.get(), kIslOperations);
  }

  Status Check() {
    for (const StatementId s : compute_.statements.ids()) {
      TUNEC_RETURN_IF_ERROR(CheckInside(s));
    }
    for (const WrittenStorage& storage : WrittenStorages(compute_.tensors, compute_.statements)) {
      TUNEC_RETURN_IF_ERROR(CheckWritten(storage));
    }
    return CheckNeverWritten();
  }

 private:
  Status CheckInside(StatementId id) {
    const Statement& statement = compute_.statements[id];
    for (const Read& read : statement.reads) {
      const std::vector<IndexExpr> guard =
          read.guard ? read.guard->nonnegative : std::vector<IndexExpr>();
      TUNEC_RETURN_IF_ERROR(CheckIndex(id, statement, read.tensor, read.index, guard));
    }
    const Statement writing = Initialised(statement);
    for (const Write& write : statement.writes) {
      TUNEC_RETURN_IF_ERROR(CheckIndex(id, writing, write.tensor, write.index, {}));
    }
    return {};
  }

  Status CheckIndex(StatementId id, const Statement& statement, TensorId tensor_id,
                    const std::vector<IndexExpr>& index, const std::vector<IndexExpr>& guard) {
    const Tensor& tensor = compute_.tensors[tensor_id];
    const auto loaded = [&](int slot) {
      const Read& read = statement.reads[slot];
      return LoadedRange(compute_.tensors[read.tensor], read);
    };
    for (size_t d = 0; d < index.size(); ++d) {
      const int64_t extent = tensor.shape[d];
      const Interval bounds = BoundsOf(index[d], statement.Intervals(), loaded);
      if (IsWithin(bounds, extent) || bounds.lo > bounds.hi) continue;
      if (index[d].UsesLoaded()) {
        if (!guard.empty()) continue;  // the guard may prevent the access
        return Fail(ErrorCode::kInvalidArgument,
                    "statement {}: index {} of {} is loaded and may be {} to {}, its extent is "
                    "{}; give a range for the tensor that holds the index",
                    statement.name, d, tensor.name, bounds.lo, bounds.hi, extent);
      }
      TUNEC_RETURN_IF_ERROR(CheckAffine(id, statement, tensor, index, d, guard));
    }
    return {};
  }

  Status CheckAffine(StatementId id, Statement reached, const Tensor& tensor,
                     const std::vector<IndexExpr>& index, size_t d,
                     const std::vector<IndexExpr>& guard) {
    if (AnyLoaded(guard) || AnyLoaded(reached.domain)) return {};
    reached.domain.insert(reached.domain.end(), guard.begin(), guard.end());
    const std::string text =
        AnyOfText(id, reached, {index[d] * -1 - 1, index[d] - IndexExpr(tensor.shape[d])});
    const auto instance = FirstPoint(isl::Set(isl_set_read_from_str(context_.get(), text.c_str())));
    if (!instance) return {};
    std::vector<int64_t> element;
    if (!AnyLoaded(index)) {
      for (const IndexExpr& expr : index) element.push_back(Evaluate(expr, *instance));
    }
    return Fail(ErrorCode::kInvalidArgument, "statement {}: {}[{}] lies outside of {}",
                reached.name, tensor.name, fmt::join(element, ", "), fmt::join(tensor.shape, "x"));
  }

  Status CheckWritten(const WrittenStorage& storage) {
    const Tensor& home = compute_.tensors[storage.home];
    if (home.role == TensorRole::kInput || home.role == TensorRole::kWeight) return {};
    isl::Set written = Elements(storage, "1 = 0");
    bool all = false;  // the statements so far write all elements
    for (size_t i = 0; i < storage.accesses.size() && !all;) {
      const StatementId id = storage.accesses[i].statement;
      isl::Set own = Elements(storage, "1 = 0");
      const size_t first = i;
      for (; i < storage.accesses.size() && storage.accesses[i].statement == id; ++i) {
        const Access& access = storage.accesses[i];
        if (!access.writes) continue;
        own = isl::Set(isl_set_union(own.take(), isl_map_range(MapOf(storage, access).take())));
        all |= CoversAll(storage, access);
      }
      for (size_t at = first; at < i; ++at) {
        TUNEC_RETURN_IF_ERROR(CheckRead(storage, storage.accesses[at], written));
      }
      written = isl::Set(isl_set_coalesce(isl_set_union(written.take(), own.take())));
    }
    if (all || home.role != TensorRole::kOutput) return {};
    const isl::Set box = Elements(storage, BoxConditions(storage));
    const auto missing = FirstPoint(isl::Set(isl_set_subtract(box.copy(), written.take())));
    if (!missing) return {};
    return Fail(ErrorCode::kInvalidArgument, "the output element {}[{}] is never written",
                home.name, fmt::join(*missing, ", "));
  }

  /// Checks that the elements of a read are written before they are read. Passes for a write, for a
  /// read with loaded indices or conditions, and if isl gives no answer. `written` has the elements
  /// that earlier statements write.
  Status CheckRead(const WrittenStorage& storage, const Access& access, const isl::Set& written) {
    if (access.writes || AnyLoaded(access.index) || AnyLoaded(access.guard)) return {};
    const Statement& statement = compute_.statements[access.statement];
    if (AnyLoaded(statement.domain)) return {};
    isl::Map unwritten(isl_map_subtract_range(MapOf(storage, access).take(), written.copy()));
    for (const Access& own : storage.accesses) {
      if (!unwritten.ok() || isl_map_is_empty(unwritten.get()) != isl_bool_false) return {};
      if (own.statement != access.statement || !own.writes) continue;
      isl::Map earlier = statement.reducer ? AnyInstance(storage, own) : Earlier(storage, own);
      unwritten = isl::Map(isl_map_subtract(unwritten.take(), earlier.take()));
    }
    const auto element = FirstPoint(isl::Set(isl_map_range(unwritten.take())));
    if (!element) return {};
    return Fail(ErrorCode::kInvalidArgument,
                "statement {} reads {}[{}], which nothing wrote before", statement.name,
                compute_.tensors[storage.home].name, fmt::join(*element, ", "));
  }

  /// Returns the relation from an instance to the elements that `write` stores in earlier instances
  /// of the same statement.
  isl::Map Earlier(const WrittenStorage& storage, const Access& write) {
    const isl::Map map = MapOf(storage, write);
    isl_map* later = isl_map_lex_gt(isl_space_domain(isl_map_get_space(map.get())));
    return isl::Map(isl_map_apply_range(later, map.copy()));
  }

  /// Returns the relation from each instance of the initialised reduction (Initialised) to all
  /// elements that `write` reaches, because the identity is stored to these elements first.
  isl::Map AnyInstance(const WrittenStorage& storage, const Access& write) {
    const isl::Map map = MapOf(storage, write);
    return isl::Map(
        isl_map_from_domain_and_range(isl_map_domain(map.copy()), isl_map_range(map.copy())));
  }

  isl::Map MapOf(const WrittenStorage& storage, const Access& access) {
    const Statement& statement = compute_.statements[access.statement];
    const std::string text =
        AccessText(access.writes ? Initialised(statement) : statement, storage, access);
    return isl::Map(isl_map_read_from_str(context_.get(), text.c_str()));
  }

  /// Returns a reduction without conditions, and with extent 1 for each iterator that no write
  /// uses. Then all elements that can receive the identity are reached. Returns any other statement
  /// unchanged.
  static Statement Initialised(Statement statement) {
    if (!statement.reducer) return statement;
    statement.domain.clear();
    std::vector<VarId> used;
    for (const Write& write : statement.writes) {
      for (const IndexExpr& index : write.index) index.CollectVars(used);
    }
    for (const VarId i : statement.iterators.ids()) {
      const bool written = std::ranges::find(used, i) != used.end();
      if (!written) statement.iterators[i].extent = 1;
    }
    return statement;
  }

  isl::Set Elements(const WrittenStorage& storage, std::string_view conditions) {
    std::vector<std::string> names;
    for (size_t d = 0; d < storage.extents.size(); ++d) names.push_back(fmt::format("a{}", d));
    const std::string text =
        fmt::format("{{ T{}[{}] : {} }}", storage.home, fmt::join(names, ", "), conditions);
    return isl::Set(isl_set_read_from_str(context_.get(), text.c_str()));
  }

  static std::string BoxConditions(const WrittenStorage& storage) {
    std::string conditions = "1 = 1";
    for (size_t d = 0; d < storage.extents.size(); ++d) {
      conditions += fmt::format(" and 0 <= a{} < {}", d, storage.extents[d]);
    }
    return conditions;
  }

  /// Returns whether each index of the write is a different iterator with at least the dimension's
  /// extent. Only the write of a reduction may have conditions.
  bool CoversAll(const WrittenStorage& storage, const Access& access) const {
    const Statement& statement = compute_.statements[access.statement];
    std::vector<VarId> used;
    for (size_t d = 0; d < access.index.size(); ++d) {
      const auto variable = access.index[d].AsVar();
      if (!variable || std::ranges::find(used, *variable) != used.end()) return false;
      if (statement.iterators[*variable].extent < storage.extents[d]) return false;
      used.push_back(*variable);
    }
    // A reduction without instances writes its identity.
    if (statement.reducer) return true;
    const bool runs =
        std::ranges::all_of(statement.iterators, [](const Iterator& it) { return it.extent > 0; });
    return runs && statement.domain.empty() && access.guard.empty();
  }

  Status CheckNeverWritten() const {
    for (const Statement& statement : compute_.statements) {
      for (const Read& read : statement.reads) {
        TUNEC_RETURN_IF_ERROR(CheckHasWriter(statement, read.tensor));
      }
    }
    return {};
  }

  Status CheckHasWriter(const Statement& statement, TensorId read) const {
    const auto home = [&](TensorId id) { return compute_.tensors[id].alias.value_or(id); };
    const Tensor& tensor = compute_.tensors[home(read)];
    if (tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight) return {};
    for (const Statement& other : compute_.statements) {
      for (const Write& write : other.writes) {
        if (home(write.tensor) == home(read)) return {};
      }
    }
    return Fail(ErrorCode::kInvalidArgument, "statement {} reads {}, which nothing writes",
                statement.name, tensor.name);
  }

  const Compute& compute_;
  isl::Context context_;
};

}  // namespace

Status CheckElements(const Compute& compute) { return ElementChecker(compute).Check(); }

}  // namespace tunec
