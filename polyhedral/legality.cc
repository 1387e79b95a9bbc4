// Legality is one question asked of every dependence: does it still run forward?
//
// A dependence is any pair of instances of which one writes an element that the other reads or
// writes. Later writers do not cut it short: a reduction's instances may be permuted, so what
// reads the result has to follow all of them, not only the one that was last originally.
//
// An instance's time is the vector of its places in sequences and its loops' values, from
// the root of the tree down (relations.h). Two statements share the entries of the nodes they
// share, and are told apart by the sequence where they part, so comparing their times
// lexicographically compares their order. A dependence a -> b is violated when
// time(a) >= time(b); a loop carries it when all entries before the loop's are equal and the
// loop's differ.
#include "polyhedral/legality.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "polyhedral/isl_handles.h"
#include "polyhedral/relations.h"
#include "support/check.h"

namespace tunec {
namespace {

// Enough for attention's statements; bounds what a hostile input can cost (seconds).
constexpr unsigned long kIslOperations = 40'000'000;

enum class DependenceKind : uint8_t {
  kFlow,   // writer -> reader
  kReuse,  // reader or writer -> later writer
};

// All dependences of one kind through one tensor between one pair of statements.
struct Dependence {
  TensorId tensor = 0;
  DependenceKind kind = DependenceKind::kFlow;
  StatementId from = 0;
  StatementId to = 0;
  isl::Map instances;
};

// One read or write of a tensor by a statement.
struct Access {
  StatementId statement = 0;
  bool writes = false;
  isl::Map elements;  // instance -> element
};

}  // namespace

struct Dependences::Impl {
  // The handles below refer to the context and must go first.
  struct Context {
    isl_ctx* ctx = isl_ctx_alloc();
    Context() { isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() { isl_ctx_free(ctx); }
  };
  Context context;
  std::vector<Tensor> tensors;
  std::vector<Statement> statements;
  std::vector<Dependence> dependences;

  Status Compute();
  Status AddPairs(TensorId tensor, DependenceKind kind, const Access& from, const Access& to);
};

namespace {

// All accesses to one tensor, in original order. A reduction reads what it combines into.
std::vector<Access> AccessesTo(isl_ctx* ctx, TensorId tensor, const std::vector<Tensor>& tensors,
                               const std::vector<Statement>& statements) {
  std::vector<Access> accesses;
  for (size_t s = 0; s < statements.size(); ++s) {
    const Statement& statement = statements[s];
    const auto id = static_cast<StatementId>(s);
    const auto add = [&](bool writes, const std::vector<IndexExpr>& index,
                         const std::vector<IndexExpr>& guard) {
      const std::string text = AccessText(id, statement, tensors[tensor], tensor, index, guard);
      accesses.push_back({id, writes, isl::Map(isl_map_read_from_str(ctx, text.c_str()))});
    };
    for (const Read& read : statement.reads) {
      if (read.tensor != tensor) continue;
      add(false, read.index, read.guard ? read.guard->nonnegative : std::vector<IndexExpr>{});
    }
    for (const Write& write : statement.writes) {
      if (write.tensor != tensor) continue;
      add(true, write.index, {});
      if (statement.reducer) add(false, write.index, {});
    }
  }
  return accesses;
}

}  // namespace

// The pairs of instances that touch the same element, the first before the second in the
// original order.
Status Dependences::Impl::AddPairs(TensorId tensor, DependenceKind kind, const Access& from,
                                   const Access& to) {
  isl_map* pairs =
      isl_map_apply_range(from.elements.copy(), isl_map_reverse(to.elements.copy()));
  if (from.statement == to.statement && pairs != nullptr) {
    const isl::Set instances(isl_map_domain(isl_map_copy(pairs)));
    pairs = isl_map_intersect(pairs, isl_map_lex_lt(isl_set_get_space(instances.get())));
  }
  isl::Map map(pairs);
  const isl_bool empty = map.ok() ? isl_map_is_empty(map.get()) : isl_bool_error;
  if (empty == isl_bool_error) {
    return Fail(ErrorCode::kResourceLimit,
                "the dependences of tensor {} need more than isl's quota of operations",
                tensors[tensor].name);
  }
  if (empty == isl_bool_false) {
    dependences.push_back({tensor, kind, from.statement, to.statement, std::move(map)});
  }
  return {};
}

Status Dependences::Impl::Compute() {
  isl_ctx_set_max_operations(context.ctx, kIslOperations);
  for (size_t t = 0; t < tensors.size(); ++t) {
    const auto tensor = static_cast<TensorId>(t);
    const std::vector<Access> accesses = AccessesTo(context.ctx, tensor, tensors, statements);
    if (std::ranges::none_of(accesses, &Access::writes)) continue;
    for (const Access& from : accesses) {
      for (const Access& to : accesses) {
        if (from.statement > to.statement || (!from.writes && !to.writes)) continue;
        const bool flow = from.writes && !to.writes;
        TUNEC_RETURN_IF_ERROR(AddPairs(
            tensor, flow ? DependenceKind::kFlow : DependenceKind::kReuse, from, to));
      }
    }
  }
  return {};
}

Dependences::Dependences(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Dependences::Dependences(Dependences&&) noexcept = default;
Dependences& Dependences::operator=(Dependences&&) noexcept = default;
Dependences::~Dependences() = default;

Result<Dependences> Dependences::Of(const std::vector<Tensor>& tensors,
                                    const std::vector<Statement>& statements) {
  auto impl = std::make_unique<Impl>();
  impl->tensors = tensors;
  impl->statements = statements;
  TUNEC_RETURN_IF_ERROR(impl->Compute());
  return Dependences(std::move(impl));
}

namespace {

// One check of a tree. Each dependence is mapped to the set of differences between the times of
// its ends; every question is then whether some of these vectors has a certain shape.
class Check {
 public:
  Check(isl_ctx* ctx, const std::vector<Tensor>& tensors, const ScheduleTree& tree,
        ReductionOrder order)
      : ctx_(ctx), tensors_(tensors), tree_(tree), order_(order) {
    BuildTimes();
    Collect(tree.root, 0);
  }

  Status CheckStages() const;
  Status CheckDependence(const Dependence& dependence) const;

 private:
  // A node of the tree that asks something: a stage, or a loop that is not serial.
  struct Place {
    const TreeNode* node;
    size_t depth;  // entries of time before it
    std::vector<StatementId> inside;
    bool Holds(StatementId s) const { return std::ranges::find(inside, s) != inside.end(); }
  };

  void BuildTimes();
  void Collect(const TreeNode& node, size_t depth);
  const Place* StageOf(TensorId tensor) const;
  isl::Set Differences(const Dependence& dependence) const;
  isl::Set EqualBefore(isl::Set differences, size_t depth) const;
  Status ExpectNone(const isl::Set& violating, const Dependence& dependence,
                    const std::string& what) const;
  Status CheckForward(const isl::Set& differences, const Dependence& dependence) const;
  Status CheckLoops(const isl::Set& differences, const Dependence& dependence) const;
  bool IsOwnReduction(const Dependence& dependence) const;

  isl_ctx* ctx_;
  const std::vector<Tensor>& tensors_;
  const ScheduleTree& tree_;
  ReductionOrder order_;
  size_t length_ = 0;
  std::vector<isl::Map> times_;
  std::vector<Place> stages_;
  std::vector<Place> loops_;
};

void Check::BuildTimes() {
  std::vector<std::vector<IndexExpr>> times;
  for (size_t s = 0; s < tree_.statements.size(); ++s) {
    times.push_back(TimeOf(tree_, static_cast<StatementId>(s)));
    length_ = std::max(length_, times.back().size());
  }
  for (size_t s = 0; s < times.size(); ++s) {
    times[s].resize(length_, IndexExpr(0));
    const std::string text =
        TimeText(static_cast<StatementId>(s), tree_.statements[s], times[s]);
    times_.emplace_back(isl_map_read_from_str(ctx_, text.c_str()));
  }
}

void Check::Collect(const TreeNode& node, size_t depth) {
  if (node.kind == TreeNode::Kind::kAlloc) {
    stages_.push_back({&node, depth, StatementsBelow(node)});
  }
  if (node.kind == TreeNode::Kind::kLoop) {
    const LoopKind kind = tree_.loops[node.loop].kind;
    if (kind != LoopKind::kSerial && kind != LoopKind::kUnrolled) {
      loops_.push_back({&node, depth, StatementsBelow(node)});
    }
  }
  const bool has_entry = node.kind == TreeNode::Kind::kLoop ||
                         node.kind == TreeNode::Kind::kSequence;
  for (const TreeNode& child : node.children) Collect(child, depth + (has_entry ? 1 : 0));
}

const Check::Place* Check::StageOf(TensorId tensor) const {
  const auto found = std::ranges::find_if(
      stages_, [&](const Place& stage) { return stage.node->tensor == tensor; });
  return found == stages_.end() ? nullptr : &*found;
}

bool Check::IsOwnReduction(const Dependence& dependence) const {
  const Statement& statement = tree_.statements[dependence.from];
  return dependence.from == dependence.to && statement.reducer && statement.reducer->reorderable;
}

// { time(b) - time(a) : a -> b a dependence }
isl::Set Check::Differences(const Dependence& dependence) const {
  isl_map* times = isl_map_apply_domain(dependence.instances.copy(), times_[dependence.from].copy());
  times = isl_map_apply_range(times, times_[dependence.to].copy());
  return isl::Set(isl_map_deltas(times));
}

isl::Set Check::EqualBefore(isl::Set differences, size_t depth) const {
  isl_set* set = differences.take();
  for (size_t i = 0; i < depth; ++i) {
    set = isl_set_fix_si(set, isl_dim_set, static_cast<unsigned>(i), 0);
  }
  return isl::Set(set);
}

// An example of a dependence in words: acc(i0 = 3, ...) -> out(...).
std::string Describe(const Dependence& dependence, const ScheduleTree& tree) {
  const isl::Map sample(isl_map_from_basic_map(isl_map_sample(dependence.instances.copy())));
  char* raw = sample.ok() ? isl_map_to_str(sample.get()) : nullptr;
  std::string text = raw ? raw : "";
  free(raw);
  for (const StatementId s : {std::max(dependence.from, dependence.to),
                              std::min(dependence.from, dependence.to)}) {
    const std::string tuple = fmt::format("S{}[", s);
    for (size_t at; (at = text.find(tuple)) != std::string::npos;) {
      text.replace(at, tuple.size(), tree.statements[s].name + "(");
      if (const size_t end = text.find(']', at); end != std::string::npos) text[end] = ')';
    }
  }
  return text;
}

Status Check::ExpectNone(const isl::Set& violating, const Dependence& dependence,
                         const std::string& what) const {
  const isl_bool empty = violating.ok() ? isl_set_is_empty(violating.get()) : isl_bool_error;
  if (empty == isl_bool_true) return {};
  if (empty == isl_bool_error) {
    return Fail(ErrorCode::kResourceLimit, "legality needs more than isl's quota of operations");
  }
  const isl::Set sample(isl_set_from_basic_set(isl_set_sample(violating.copy())));
  char* raw = sample.ok() ? isl_set_to_str(sample.get()) : nullptr;
  const std::string distance = raw ? raw : "";
  free(raw);
  return Fail(ErrorCode::kIllegalSchedule,
              "{} of {}: the {} dependence from {} to {}, such as {}, is violated at distance {}",
              what, tensors_[dependence.tensor].name,
              dependence.kind == DependenceKind::kFlow ? "flow" : "storage",
              tree_.statements[dependence.from].name, tree_.statements[dependence.to].name,
              Describe(dependence, tree_), distance);
}

// No difference may be lexicographically zero or negative.
Status Check::CheckForward(const isl::Set& differences, const Dependence& dependence) const {
  isl::Set prefix = differences;
  for (size_t i = 0; i < length_; ++i) {
    const auto dimension = static_cast<unsigned>(i);
    const isl::Set backward(
        isl_set_upper_bound_si(prefix.copy(), isl_dim_set, dimension, -1));
    TUNEC_RETURN_IF_ERROR(ExpectNone(backward, dependence, "order of accesses"));
    prefix = isl::Set(isl_set_fix_si(prefix.take(), isl_dim_set, dimension, 0));
  }
  return ExpectNone(prefix, dependence, "order of accesses");
}

// No loop that runs its iterations together may have a difference.
Status Check::CheckLoops(const isl::Set& differences, const Dependence& dependence) const {
  for (const Place& loop : loops_) {
    if (!loop.Holds(dependence.from) || !loop.Holds(dependence.to)) continue;
    const bool vector = tree_.loops[loop.node->loop].kind == LoopKind::kVector;
    if (vector && order_ == ReductionOrder::kAny && IsOwnReduction(dependence)) continue;
    const isl::Set together = EqualBefore(differences, loop.depth);
    const auto dimension = static_cast<unsigned>(loop.depth);
    const std::string what = fmt::format("{} loop {} carries accesses", vector ? "vector" : "parallel",
                                         tree_.loops[loop.node->loop].name);
    const isl::Set up(isl_set_lower_bound_si(together.copy(), isl_dim_set, dimension, 1));
    TUNEC_RETURN_IF_ERROR(ExpectNone(up, dependence, what));
    const isl::Set down(isl_set_upper_bound_si(together.copy(), isl_dim_set, dimension, -1));
    TUNEC_RETURN_IF_ERROR(ExpectNone(down, dependence, what));
  }
  return {};
}

// Only statements inside the stage may touch its tensor.
Status Check::CheckStages() const {
  for (const Place& stage : stages_) {
    for (size_t s = 0; s < tree_.statements.size(); ++s) {
      if (stage.Holds(static_cast<StatementId>(s))) continue;
      const Statement& statement = tree_.statements[s];
      const auto touches = [&](const auto& access) { return access.tensor == stage.node->tensor; };
      if (std::ranges::any_of(statement.reads, touches) ||
          std::ranges::any_of(statement.writes, touches)) {
        return Fail(ErrorCode::kIllegalSchedule, "stage of {}: statement {} outside it uses it",
                    tensors_[stage.node->tensor].name, statement.name);
      }
    }
  }
  return {};
}

Status Check::CheckDependence(const Dependence& dependence) const {
  isl::Set differences = Differences(dependence);
  if (const Place* stage = StageOf(dependence.tensor)) {
    isl::Set within = EqualBefore(differences, stage->depth);
    if (dependence.kind == DependenceKind::kFlow) {
      const isl::Set escaping(isl_set_subtract(differences.take(), within.copy()));
      TUNEC_RETURN_IF_ERROR(
          ExpectNone(escaping, dependence, "a value passes between runs of the stage"));
    }
    // Each run of the stage has its own storage, so reuse between runs is void.
    differences = std::move(within);
  }
  if (order_ == ReductionOrder::kAsWritten || !IsOwnReduction(dependence)) {
    TUNEC_RETURN_IF_ERROR(CheckForward(differences, dependence));
  }
  return CheckLoops(differences, dependence);
}

}  // namespace

Status Dependences::Check(const ScheduleTree& tree, ReductionOrder order) const {
  TUNEC_CHECK(tree.statements.size() == impl_->statements.size(),
              "the tree has {} statements, the dependences {}", tree.statements.size(),
              impl_->statements.size());
  isl_ctx_reset_operations(impl_->context.ctx);
  const class Check check(impl_->context.ctx, impl_->tensors, tree, order);
  TUNEC_RETURN_IF_ERROR(check.CheckStages());
  for (const Dependence& dependence : impl_->dependences) {
    TUNEC_RETURN_IF_ERROR(check.CheckDependence(dependence));
  }
  return {};
}

std::string Dependences::Print() const {
  std::string text;
  for (const Dependence& dependence : impl_->dependences) {
    if (dependence.kind != DependenceKind::kFlow) continue;
    char* raw = isl_map_to_str(dependence.instances.get());
    text += fmt::format("{}: {}\n", impl_->tensors[dependence.tensor].name, raw ? raw : "");
    free(raw);
  }
  return text;
}

std::string IslVersion() {
  std::string version = isl_version();
  while (!version.empty() && version.back() == '\n') version.pop_back();
  return version;
}

}  // namespace tunec
