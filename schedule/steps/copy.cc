// copy: reads of a tensor become reads of a copy that schedules can move near them.
//
// Every instance of a statement runs once, so a copy that several tiles want must be several
// copies: one for each group of values of the iterators that the tensor does not know. The group is
// the copy's leading dimension, floor(iterator / factor) for its reader; `compute_at` finds its
// loops.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/array.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Refuse(const CopyStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "copy {}: {}", step.tensor, why);
}

// A group: which iterator of the reader, and how many of its values share a copy.
struct Group {
  VarId iterator;
  int64_t factor = 1;
};

Result<std::vector<Group>> FindGroups(const Statement& reader, const CopyStep& step) {
  std::vector<Group> groups;
  for (const CopyStep::Group& group : step.groups) {
    const auto found = std::ranges::find(reader.iterators, group.iterator, &Iterator::name);
    if (found == reader.iterators.end() || group.factor < 1) {
      return Refuse(step, fmt::format("no iterator {} of {} in groups of {}", group.iterator,
                                      step.statement, group.factor));
    }
    const auto iterator = reader.iterators.id_of(found);
    if (std::ranges::find(groups, iterator, &Group::iterator) != groups.end()) {
      return Refuse(step, fmt::format("iterator {} is named twice", group.iterator));
    }
    groups.push_back({iterator, group.factor});
  }
  return groups;
}

// What the reader reads is what the copy, made just before the reader, finds: nobody but others
// writes it.
Status CheckSource(const Compute& compute, TensorId source, const Statement& reader,
                   const CopyStep& step) {
  const auto touches = [&](const auto& access) { return access.tensor == source; };
  if (std::ranges::none_of(reader.reads, touches)) {
    return Refuse(step, fmt::format("{} does not read it", step.statement));
  }
  if (IsMadeOfConstant(compute, reader)) {
    return Refuse(step, fmt::format("{} is run when compiling", step.statement));
  }
  const auto home = [&](TensorId tensor) { return compute.tensors[tensor].alias.value_or(tensor); };
  for (const Write& write : reader.writes) {
    if (home(write.tensor) == home(source)) {
      return Refuse(step, fmt::format("{} writes it too", step.statement));
    }
  }
  const std::string name = step.tensor + ".copy";
  if (compute.FindTensor(name) || compute.FindStatement(name)) {
    return Refuse(step, "it is copied already");
  }
  return {};
}

Tensor CopyOf(const Tensor& source, const Statement& reader, const std::vector<Group>& groups) {
  Tensor copy{.name = source.name + ".copy",
              .type = source.type,
              .role = TensorRole::kWorkspace,
              .alignment = 64};
  for (const Group& group : groups) {
    copy.shape.push_back(CeilDivide(reader.iterators[group.iterator].extent, group.factor));
  }
  copy.shape.insert(copy.shape.end(), source.shape.begin(), source.shape.end());
  copy.range = source.range;
  return copy;
}

Statement CopyStatement(const Tensor& copy, TensorId from, TensorId to, size_t groups) {
  Statement statement{.name = copy.name};
  std::vector<IndexExpr> index;
  for (size_t d = 0; d < copy.shape.size(); ++d) {
    const std::string name = d < groups ? fmt::format("g{}", d) : fmt::format("d{}", d - groups);
    index.push_back(IndexExpr::Var(
        statement.iterators.push_back({name, copy.shape[d], IteratorKind::kParallel})));
  }
  statement.writes.push_back({to, index});
  index.erase(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(groups));
  statement.reads.push_back({from, index, {}});
  statement.values.push_back(Expr::Read(0, copy.type));
  return statement;
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const CopyStep& step) {
  const std::optional<TensorId> source = compute.FindTensor(step.tensor);
  const std::optional<StatementId> reader = compute.FindStatement(step.statement);
  if (!source || !reader) return Refuse(step, "there is no such tensor or statement");
  const Statement& reads = compute.statements[*reader];
  TUNEC_RETURN_IF_ERROR(CheckSource(compute, *source, reads, step));
  TUNEC_ASSIGN(const std::vector<Group> groups, FindGroups(reads, step));
  Compute result = compute;
  const TensorId id = result.tensors.next_id();
  result.tensors.push_back(CopyOf(compute.tensors[*source], reads, groups));
  if (ElementCount(result.tensors.back().shape) < 0) {
    return Refuse(step, "so many copies have too many elements");
  }
  for (Read& read : result.statements[*reader].reads) {
    if (read.tensor != *source) continue;
    read.tensor = id;
    std::vector<IndexExpr> index;
    for (const Group& group : groups) {
      index.push_back(IndexExpr::FloorDiv(IndexExpr::Var(group.iterator), group.factor));
    }
    read.index.insert(read.index.begin(), index.begin(), index.end());
  }
  result.statements.insert(*reader, CopyStatement(result.tensors[id], *source, id, groups.size()));
  return result;
}

}  // namespace tunec
