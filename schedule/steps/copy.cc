// copy: redirects reads of a tensor to a copy that schedules can move near the reads.
//
// Every instance of a statement runs once, so a copy that several tiles read must be several
// copies: one for each group of values of the step's iterators. For each iterator, the copy has a
// leading dimension, and the reader uses floor(iterator / factor) as index. `compute_at` finds the
// loops from this index. If an index of the tensor is linear in such an iterator, the copy may have
// a window of this dimension: from the first to the last element that an instance of the group may
// read.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/array.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Reject(const CopyStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "copy {}: {}", step.tensor, why);
}

// The groups along one iterator of the reader: `factor` consecutive values share a copy.
struct Group {
  VarId iterator;
  int64_t factor = 1;
};

Result<std::vector<Group>> FindGroups(const Statement& reader, const CopyStep& step) {
  std::vector<Group> groups;
  for (const CopyStep::Group& group : step.groups) {
    const auto found = std::ranges::find(reader.iterators, group.iterator, &Iterator::name);
    if (found == reader.iterators.end() || group.factor < 1) {
      return Reject(step, fmt::format("no iterator {} of {} in groups of {}", group.iterator,
                                      step.statement, group.factor));
    }
    const auto iterator = reader.iterators.id_of(found);
    if (std::ranges::find(groups, iterator, &Group::iterator) != groups.end()) {
      return Reject(step, fmt::format("iterator {} is named twice", group.iterator));
    }
    groups.push_back({iterator, group.factor});
  }
  return groups;
}

// Checks that the reader reads the tensor, runs at run time, and does not write the tensor. A copy
// made just before the reader then holds the values that the reader reads.
Status CheckSource(const Compute& compute, TensorId source, const Statement& reader,
                   const CopyStep& step) {
  const auto touches = [&](const auto& access) { return access.tensor == source; };
  if (std::ranges::none_of(reader.reads, touches)) {
    return Reject(step, fmt::format("{} does not read it", step.statement));
  }
  if (IsMadeOfConstant(compute, reader)) {
    return Reject(step, fmt::format("{} runs at compile time", step.statement));
  }
  const auto home = [&](TensorId tensor) { return compute.tensors[tensor].alias.value_or(tensor); };
  for (const Write& write : reader.writes) {
    if (home(write.tensor) == home(source)) {
      return Reject(step, fmt::format("{} writes it too", step.statement));
    }
  }
  return {};
}

// Returns a new name for a copy of the tensor. If a tensor has several copies, for different
// statements, the later ones have numbers.
std::string NameOfCopy(const Compute& compute, const std::string& tensor) {
  const std::string first = tensor + ".copy";
  std::string name = first;
  for (int number = 2; compute.FindTensor(name) || compute.FindStatement(name); ++number)
    name = fmt::format("{}{}", first, number);
  return name;
}

// The part of one of the tensor's dimensions that the copy contains.
struct Window {
  IndexExpr start;       // part of the index that depends on the numbers of the groups
  Interval rest;         // range of the elements that the group reads, relative to `start`
  bool is_whole = true;  // each group's copy contains the whole dimension
};

// Returns the part of an index that depends on the groups' numbers. Returns nothing if a division
// contains the iterator of a group.
std::optional<IndexExpr> StartOf(const IndexExpr& index, const std::vector<Group>& groups) {
  IndexExpr start(0);
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto& [iterator, factor] = groups[g];
    const int64_t coefficient = index.Coefficient(iterator);
    if ((index - IndexExpr::Var(iterator) * coefficient).Uses(iterator)) return std::nullopt;
    start += IndexExpr::Var(IteratorVar(g)) * (coefficient * factor);
  }
  return start;
}

// Returns the range of the reads of a group, relative to the group's start.
Interval RestOf(const IndexExpr& index, const Statement& reader, const std::vector<Group>& groups) {
  return BoundsOf(index, [&](VarId v) {
    const auto group = std::ranges::find(groups, v, &Group::iterator);
    const int64_t extent = reader.iterators[v].extent;
    return Interval{0, (group == groups.end() ? extent : std::min(group->factor, extent)) - 1};
  });
}

Window WindowOf(const Statement& reader, TensorId source, size_t dimension,
                const std::vector<Group>& groups) {
  Window window;
  bool is_first = true;
  for (const Read& read : reader.reads) {
    if (read.tensor != source) continue;
    const IndexExpr& index = read.index[dimension];
    const std::optional<IndexExpr> start = StartOf(index, groups);
    if (!start || index.UsesLoaded() || start->IsConstant()) return {};
    if (!is_first && *start != window.start) return {};
    const Interval rest = RestOf(index, reader, groups);
    window = {*start,
              is_first
                  ? rest
                  : Interval{std::min(rest.lo, window.rest.lo), std::max(rest.hi, window.rest.hi)},
              /*is_whole=*/false};
    is_first = false;
  }
  return window;
}

using Windows = std::vector<Window>;  // by dimension of the tensor

Windows WindowsOf(const Compute& compute, TensorId source, const Statement& reader,
                  const std::vector<Group>& groups) {
  Windows windows;
  for (size_t d = 0; d < compute.tensors[source].shape.size(); ++d)
    windows.push_back(WindowOf(reader, source, d, groups));
  return windows;
}

Tensor CopyOf(const Tensor& source, std::string name, const Statement& reader,
              const std::vector<Group>& groups, const Windows& windows) {
  Tensor copy{.name = std::move(name),
              .type = source.type,
              .role = TensorRole::kWorkspace,
              .alignment = 64};
  for (const Group& group : groups) {
    copy.shape.push_back(CeilDivide(reader.iterators[group.iterator].extent, group.factor));
  }
  for (size_t d = 0; d < windows.size(); ++d) {
    const auto& [start, rest, is_whole] = windows[d];
    copy.shape.push_back(is_whole ? source.shape[d] : rest.hi - rest.lo + 1);
  }
  copy.range = source.range;
  return copy;
}

// Returns the statement with the only write to the tensor. Returns null if there is no or a second
// write, if the statement is a reduction, or if the tensor is not workspace or shares its storage.
const Statement* WriterOf(const Compute& compute, TensorId tensor) {
  if (compute.tensors[tensor].role != TensorRole::kWorkspace) return nullptr;
  const auto shares = [&](const Tensor& other) { return other.alias == tensor; };
  if (compute.tensors[tensor].alias || std::ranges::any_of(compute.tensors, shares)) return nullptr;
  const Statement* writer = nullptr;
  for (const Statement& statement : compute.statements) {
    for (const Write& write : statement.writes) {
      if (write.tensor != tensor) continue;
      if (writer != nullptr || statement.reducer) return nullptr;
      writer = &statement;
    }
  }
  return writer;
}

// Returns conditions on the element that hold if it was written. These are the conditions of the
// only writer in which each iterator is an index of the write.
std::vector<IndexExpr> WrittenWhere(const Compute& compute, TensorId tensor,
                                    const std::vector<IndexExpr>& element) {
  const Statement* const writer = WriterOf(compute, tensor);
  if (writer == nullptr) return {};
  const auto write = std::ranges::find(writer->writes, tensor, &Write::tensor);
  const auto element_of = [&](VarId v) -> std::optional<IndexExpr> {
    for (size_t d = 0; d < element.size(); ++d)
      if (write->index[d].AsVar() == v) return element[d];
    return std::nullopt;
  };
  std::vector<IndexExpr> conditions;
  for (const IndexExpr& condition : writer->domain) {
    std::vector<VarId> variables;
    condition.CollectVars(variables);
    const auto is_known = [&](VarId v) { return element_of(v).has_value(); };
    if (condition.UsesLoaded() || !std::ranges::all_of(variables, is_known)) continue;
    conditions.push_back(Substitute(condition, [&](VarId v) { return *element_of(v); }));
  }
  return conditions;
}

// Returns an equivalent condition, if possible without iterators that have no effect: 4*b - 2*g - d
// + 3 >= 0 is 2*b - g + 1 >= 0 for d of 0 and 1. The copy then has the elements of both d or none.
IndexExpr Shortest(const IndexExpr& condition, const IntervalOf& interval) {
  for (const IndexTerm& of_divisor : condition.terms()) {
    const int64_t divisor = std::abs(of_divisor.coefficient);
    IndexExpr rest = condition, quotient;
    for (const auto& [coefficient, atom] : condition.terms()) {
      if (atom.kind != IndexAtom::Kind::kVariable || coefficient % divisor != 0) continue;
      rest -= IndexExpr::Var(atom.variable()) * coefficient;
      quotient += IndexExpr::Var(atom.variable()) * (coefficient / divisor);
    }
    const Interval bounds = BoundsOf(rest, interval);
    const int64_t low = FloorDivide(bounds.lo, divisor);
    if (divisor > 1 && low == FloorDivide(bounds.hi, divisor)) return quotient + low;
  }
  return condition;
}

// Returns the statement that makes the copy. The domain excludes positions of a window outside of
// the tensor, and elements that do not meet the conditions of WrittenWhere.
Statement CopyStatement(const Compute& compute, TensorId from, TensorId to,
                        const Windows& windows) {
  const Tensor& copy = compute.tensors[to];
  const size_t groups = copy.shape.size() - windows.size();
  Statement statement{.name = copy.name};
  std::vector<IndexExpr> copy_index;
  for (size_t d = 0; d < copy.shape.size(); ++d) {
    const std::string name = d < groups ? fmt::format("g{}", d) : fmt::format("d{}", d - groups);
    copy_index.push_back(IndexExpr::Var(
        statement.iterators.push_back({name, copy.shape[d], IteratorKind::kParallel})));
  }
  const auto interval = [&](VarId v) { return Interval{0, statement.iterators[v].extent - 1}; };
  std::vector<IndexExpr> element;
  for (size_t d = 0; d < windows.size(); ++d) {
    element.push_back(copy_index[groups + d]);
    if (windows[d].is_whole) continue;
    element[d] += windows[d].start + windows[d].rest.lo;
    const Interval bounds = BoundsOf(element[d], interval);
    const int64_t last = compute.tensors[from].shape[d] - 1;
    if (bounds.lo < 0) statement.domain.push_back(element[d]);
    if (bounds.hi > last) statement.domain.push_back(IndexExpr(last) - element[d]);
  }
  for (const IndexExpr& condition : WrittenWhere(compute, from, element))
    statement.domain.push_back(Shortest(condition, interval));
  statement.writes.push_back({to, std::move(copy_index)});
  statement.reads.push_back({from, std::move(element), {}});
  statement.values.push_back(Expr::Read(0, copy.type));
  return statement;
}

// Returns the reader's index of the copy for the reader's index of the tensor.
std::vector<IndexExpr> IndexOfCopy(const std::vector<IndexExpr>& index,
                                   const std::vector<Group>& groups, const Windows& windows) {
  std::vector<IndexExpr> copy_index;
  for (const Group& group : groups)
    copy_index.push_back(IndexExpr::FloorDiv(IndexExpr::Var(group.iterator), group.factor));
  const std::vector<IndexExpr> numbers = copy_index;
  for (size_t d = 0; d < windows.size(); ++d) {
    copy_index.push_back(index[d]);
    if (!windows[d].is_whole)
      copy_index.back() -= Substitute(windows[d].start, numbers) + windows[d].rest.lo;
  }
  return copy_index;
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const CopyStep& step) {
  const std::optional<TensorId> source = compute.FindTensor(step.tensor);
  const std::optional<StatementId> reader = compute.FindStatement(step.statement);
  if (!source || !reader) return Reject(step, "there is no such tensor or statement");
  const Statement& reads = compute.statements[*reader];
  TUNEC_RETURN_IF_ERROR(CheckSource(compute, *source, reads, step));
  TUNEC_ASSIGN(const std::vector<Group> groups, FindGroups(reads, step));
  const Windows windows = WindowsOf(compute, *source, reads, groups);
  Compute result = compute;
  const TensorId id = result.tensors.next_id();
  result.tensors.push_back(
      CopyOf(compute.tensors[*source], NameOfCopy(compute, step.tensor), reads, groups, windows));
  if (ElementCount(result.tensors.back().shape) < 0) {
    return Reject(step, "the copies have too many elements");
  }
  for (Read& read : result.statements[*reader].reads) {
    if (read.tensor != *source) continue;
    read.tensor = id;
    read.index = IndexOfCopy(read.index, groups, windows);
  }
  result.statements.insert(*reader, CopyStatement(result, *source, id, windows));
  return result;
}

}  // namespace tunec
