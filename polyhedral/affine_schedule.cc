// The call of isl's scheduler, and the conversion of its result to an AffineSchedule. The scheduler
// is Pluto's algorithm, with Feautrier's algorithm as fallback. Band by band, the scheduler finds
// affine rows over which no dependence has a negative component. The scheduler prefers rows with
// small distances between the writer of a value and the readers.
#include "polyhedral/affine_schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "polyhedral/dependence_data.h"
#include "polyhedral/relations.h"

namespace tunec {
namespace {

// The scheduler's quota of isl operations for each statement. For comparison, a single statement
// with four iterators needs about half of the quota.
constexpr unsigned long kOperationsPerStatement = 7'000;

// A limit for the operations of an isl context while the object exists. The destructor restores the
// old limit and clears the error, so later calls of isl work even if the limit was reached.
class Quota {
 public:
  Quota(isl_ctx* ctx, unsigned long operations)
      : ctx_(ctx), before_(isl_ctx_get_max_operations(ctx)) {
    isl_ctx_set_max_operations(ctx_, operations);
    isl_ctx_reset_operations(ctx_);
  }
  Quota(const Quota&) = delete;
  Quota& operator=(const Quota&) = delete;
  ~Quota() {
    isl_ctx_set_max_operations(ctx_, before_);
    isl_ctx_reset_operations(ctx_);
    isl_ctx_reset_error(ctx_);
  }

 private:
  isl_ctx* ctx_;
  unsigned long before_;
};

void SetOptions(isl_ctx* ctx, StatementFusion fusion) {
  isl_options_set_schedule_serialize_sccs(ctx, fusion == StatementFusion::kSeparate ? 1 : 0);
  // Maximize the depth of bands: tiles are made from deep bands.
  isl_options_set_schedule_maximize_band_depth(ctx, 1);
  // With shared loops, do not combine statements if this reduces the number of parallel loops.
  isl_options_set_schedule_maximize_coincidence(ctx, fusion == StatementFusion::kShared ? 1 : 0);
}

std::optional<int64_t> Integer(isl_val* value) {
  std::optional<int64_t> integer;
  if (value != nullptr && isl_val_is_int(value) == isl_bool_true) {
    integer = isl_val_get_num_si(value);
  }
  isl_val_free(value);
  return integer;
}

// Returns the row of an affine function with integer coefficients, or nullopt for other functions.
std::optional<AffineRow> RowOf(const isl::Affine& function, const Statement& statement) {
  if (!function.ok() || isl_aff_dim(function.get(), isl_dim_div) != 0) return std::nullopt;
  AffineRow row;
  const std::optional<int64_t> constant = Integer(isl_aff_get_constant_val(function.get()));
  if (!constant) return std::nullopt;
  row.constant = *constant;
  for (const VarId i : statement.iterators.ids()) {
    const auto coefficient =
        Integer(isl_aff_get_coefficient_val(function.get(), isl_dim_in, i.number()));
    if (!coefficient) return std::nullopt;
    row.coefficients.push_back(*coefficient);
  }
  return row;
}

// A converter of isl's schedule tree to an AffineSchedule. Domain and filter nodes are skipped, and
// sets become sequences. A leaf replaces a node of another kind. A band ends before its first row
// that is not an affine function with integer coefficients; a leaf replaces the rest.
class Reader {
 public:
  explicit Reader(const Statements& statements) : statements_(statements) {}

  AffineSchedule Read(const isl::ScheduleNode& node) const {
    const isl_schedule_node_type type = isl_schedule_node_get_type(node.get());
    if (type == isl_schedule_node_domain || type == isl_schedule_node_filter) {
      return Read(Child(node, 0));
    }
    AffineSchedule read = ReadKind(node);
    read.statements = StatementsAt(node);
    return read;
  }

 private:
  AffineSchedule ReadKind(const isl::ScheduleNode& node) const {
    switch (isl_schedule_node_get_type(node.get())) {
      case isl_schedule_node_band:
        return ReadBand(node);
      case isl_schedule_node_sequence:
      case isl_schedule_node_set:
        return ReadSequence(node);
      default:
        return {};
    }
  }

  static isl::ScheduleNode Child(const isl::ScheduleNode& node, int position) {
    return isl::ScheduleNode(isl_schedule_node_get_child(node.get(), position));
  }

  std::vector<StatementId> StatementsAt(const isl::ScheduleNode& node) const {
    std::vector<StatementId> found;
    const isl::UnionSet domain(isl_schedule_node_get_domain(node.get()));
    isl_set_list* sets = domain.ok() ? isl_union_set_get_set_list(domain.get()) : nullptr;
    for (int i = 0; sets != nullptr && i < isl_set_list_n_set(sets); ++i) {
      const isl::Set set(isl_set_list_get_set(sets, i));
      if (const char* name = isl_set_get_tuple_name(set.get())) found.push_back(IdOf(name));
    }
    isl_set_list_free(sets);
    std::ranges::sort(found);
    return found;
  }

  static StatementId IdOf(const char* tuple) {
    return StatementId(static_cast<int>(std::strtol(tuple + 1, nullptr, 10)));
  }

  AffineSchedule ReadSequence(const isl::ScheduleNode& node) const {
    AffineSchedule sequence{.kind = AffineSchedule::Kind::kSequence};
    const int children = isl_schedule_node_n_children(node.get());
    for (int i = 0; i < children; ++i) sequence.children.push_back(Read(Child(node, i)));
    return sequence;
  }

  AffineSchedule ReadBand(const isl::ScheduleNode& node) const {
    AffineSchedule band{.kind = AffineSchedule::Kind::kBand};
    band.permutable = isl_schedule_node_band_get_permutable(node.get()) == isl_bool_true;
    isl_multi_union_pw_aff* rows = isl_schedule_node_band_get_partial_schedule(node.get());
    const int members = isl_schedule_node_band_n_member(node.get());
    bool affine = rows != nullptr;
    for (int i = 0; affine && i < members; ++i) {
      AffineLoop loop;
      loop.coincident =
          isl_schedule_node_band_member_get_coincident(node.get(), i) == isl_bool_true;
      affine = ReadRows(isl_multi_union_pw_aff_get_union_pw_aff(rows, i), loop);
      if (affine) band.loops.push_back(std::move(loop));
    }
    isl_multi_union_pw_aff_free(rows);
    if (band.loops.empty()) return {};
    band.children.push_back(affine ? Read(Child(node, 0)) : AffineSchedule{});
    if (!affine) band.children[0].statements = StatementsAt(node);
    return band;
  }

  // Adds the rows of all statements to `loop`. Returns false if isl failed or RowOf has no row for
  // a statement. Takes ownership of `function`.
  bool ReadRows(isl_union_pw_aff* function, AffineLoop& loop) const {
    isl_pw_aff_list* parts = isl_union_pw_aff_get_pw_aff_list(function);
    isl_union_pw_aff_free(function);
    bool affine = parts != nullptr;
    for (int i = 0; affine && i < isl_pw_aff_list_n_pw_aff(parts); ++i) {
      isl_pw_aff* part = isl_pw_aff_list_get_pw_aff(parts, i);
      isl_space* space = isl_pw_aff_get_domain_space(part);
      // The name is null if isl's quota was reached; ProposeSchedule then fails.
      const char* name = isl_space_get_tuple_name(space, isl_dim_set);
      const std::optional<StatementId> id = name ? std::optional(IdOf(name)) : std::nullopt;
      isl_space_free(space);
      affine = id && isl_pw_aff_isa_aff(part) == isl_bool_true;
      const isl::Affine only(affine ? isl_pw_aff_as_aff(part) : nullptr);
      if (!affine) isl_pw_aff_free(part);
      const std::optional<AffineRow> row = id ? RowOf(only, statements_[*id]) : std::nullopt;
      affine = row.has_value();
      if (row) loop.rows[*id] = *row;
    }
    isl_pw_aff_list_free(parts);
    return affine;
  }

  const Statements& statements_;
};

std::string RowText(const AffineRow& row, const Statement& statement) {
  IndexExpr value(row.constant);
  for (size_t i = 0; i < row.coefficients.size(); ++i) {
    value += IndexExpr::Var(IteratorVar(i)) * row.coefficients[i];
  }
  return Print(value, statement.IteratorNames());
}

void PrintNode(const AffineSchedule& node, const Statements& statements, int indent,
               std::string& text) {
  const std::string space(static_cast<size_t>(2 * indent), ' ');
  switch (node.kind) {
    case AffineSchedule::Kind::kLeaf:
      for (const StatementId s : node.statements) text += space + statements[s].name + "\n";
      return;
    case AffineSchedule::Kind::kSequence:
      text += space + "sequence\n";
      break;
    case AffineSchedule::Kind::kBand:
      text += space + (node.permutable ? "permutable band\n" : "band\n");
      for (const AffineLoop& loop : node.loops) {
        std::vector<std::string> rows;
        for (const auto& [s, row] : loop.rows) {
          rows.push_back(statements[s].name + ": " + RowText(row, statements[s]));
        }
        text += fmt::format("{}- {}{}\n", space, fmt::join(rows, "; "),
                            loop.coincident ? " coincident" : "");
      }
      break;
  }
  for (const AffineSchedule& child : node.children) PrintNode(child, statements, indent + 1, text);
}

}  // namespace

std::string Print(const AffineSchedule& schedule, const Statements& statements) {
  std::string text;
  PrintNode(schedule, statements, 0, text);
  return text;
}

Result<AffineSchedule> ProposeSchedule(const Dependences& dependences, StatementFusion fusion) {
  Dependences::Data& data = dependences.data();
  isl_ctx* ctx = data.Begin();
  isl::UnionSet domain(isl_union_set_read_from_str(ctx, "{ }"));
  for (const StatementId s : data.statements.ids()) {
    const std::string text = DomainText(s, data.statements[s]);
    domain = isl::UnionSet(
        isl_union_set_union(domain.take(), isl_union_set_read_from_str(ctx, text.c_str())));
  }
  isl::UnionMap all(isl_union_map_read_from_str(ctx, "{ }"));
  isl::UnionMap flow = all;
  for (size_t i = 0; i < data.storages.size(); ++i) {
    TUNEC_ASSIGN(const std::vector<Dependence>* through, data.FindDependencesThrough(i));
    for (const Dependence& dependence : *through) {
      const isl::UnionMap instances(isl_union_map_from_map(dependence.instances.copy()));
      all = isl::UnionMap(isl_union_map_union(all.take(), instances.copy()));
      if (dependence.kind != DependenceKind::kFlow) continue;
      flow = isl::UnionMap(isl_union_map_union(flow.take(), instances.copy()));
    }
  }
  const Quota quota(ctx, kOperationsPerStatement * data.statements.size());
  SetOptions(ctx, fusion);
  isl_schedule_constraints* constraints = isl_schedule_constraints_on_domain(domain.take());
  constraints = isl_schedule_constraints_set_validity(constraints, all.copy());
  constraints = isl_schedule_constraints_set_coincidence(constraints, all.copy());
  constraints = isl_schedule_constraints_set_proximity(constraints, flow.take());
  const isl::Schedule schedule(isl_schedule_constraints_compute_schedule(constraints));
  const isl::ScheduleNode root(schedule.ok() ? isl_schedule_get_root(schedule.get()) : nullptr);
  if (!root.ok()) return isl::Failure(ctx, "a schedule");
  AffineSchedule read = Reader(data.statements).Read(root);
  if (isl_ctx_last_error(ctx) == isl_error_quota) return isl::Failure(ctx, "a schedule");
  return read;
}

}  // namespace tunec
