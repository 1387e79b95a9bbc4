// Legality is one question asked of every dependence: does it still run forward?
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

struct TensorDependences {
  TensorId tensor = 0;
  isl::UnionMap flow;   // writer -> reader
  isl::UnionMap reuse;  // reader or writer -> later writer
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
  std::vector<TensorDependences> by_tensor;

  Status Compute();
  TensorDependences ComputeTensor(TensorId tensor, const isl::UnionMap& original);
  isl::UnionMap Parse(const std::string& text) const {
    return isl::UnionMap(isl_union_map_read_from_str(context.ctx, text.c_str()));
  }
  void Add(isl::UnionMap& all, const std::string& text) const {
    isl::UnionMap one = Parse(text);
    all = isl::UnionMap(isl_union_map_union(all.take(), one.take()));
  }
  isl::UnionMap Empty() const { return Parse("{ }"); }
};

namespace {

// Statement instances in their original order: statement by statement.
std::string OriginalTime(StatementId id, const Statement& statement, size_t length) {
  std::vector<IndexExpr> time;
  time.emplace_back(id);
  for (size_t i = 0; i < statement.iterators.size(); ++i) {
    time.push_back(IndexExpr::Var(static_cast<VarId>(i)));
  }
  time.resize(length, IndexExpr(0));
  return TimeText(id, statement, time);
}

}  // namespace

TensorDependences Dependences::Impl::ComputeTensor(TensorId tensor,
                                                   const isl::UnionMap& original) {
  isl::UnionMap reads = Empty();
  isl::UnionMap writes = Empty();
  for (size_t s = 0; s < statements.size(); ++s) {
    const Statement& statement = statements[s];
    const auto id = static_cast<StatementId>(s);
    const auto text = [&](const std::vector<IndexExpr>& index,
                          const std::vector<IndexExpr>& guard) {
      return AccessText(id, statement, tensors[tensor], tensor, index, guard);
    };
    for (const Read& read : statement.reads) {
      if (read.tensor != tensor) continue;
      Add(reads, text(read.index,
                      read.guard ? read.guard->nonnegative : std::vector<IndexExpr>{}));
    }
    for (const Write& write : statement.writes) {
      if (write.tensor != tensor) continue;
      Add(writes, text(write.index, {}));
      if (statement.reducer) Add(reads, text(write.index, {}));
    }
  }
  TensorDependences result{.tensor = tensor};
  isl_union_access_info* info = isl_union_access_info_from_sink(reads.copy());
  info = isl_union_access_info_set_must_source(info, writes.copy());
  info = isl_union_access_info_set_schedule_map(info, original.copy());
  isl_union_flow* flow = isl_union_access_info_compute_flow(info);
  result.flow = isl::UnionMap(isl_union_flow_get_may_dependence(flow));
  isl_union_flow_free(flow);
  info = isl_union_access_info_from_sink(writes.copy());
  info = isl_union_access_info_set_must_source(info, writes.copy());
  info = isl_union_access_info_set_may_source(info, reads.copy());
  info = isl_union_access_info_set_schedule_map(info, original.copy());
  flow = isl_union_access_info_compute_flow(info);
  result.reuse = isl::UnionMap(isl_union_flow_get_may_dependence(flow));
  isl_union_flow_free(flow);
  return result;
}

Status Dependences::Impl::Compute() {
  isl_ctx_set_max_operations(context.ctx, kIslOperations);
  size_t length = 1;
  for (const Statement& statement : statements) {
    length = std::max(length, statement.iterators.size() + 1);
  }
  isl::UnionMap original = Empty();
  for (size_t s = 0; s < statements.size(); ++s) {
    Add(original, OriginalTime(static_cast<StatementId>(s), statements[s], length));
  }
  for (size_t t = 0; t < tensors.size(); ++t) {
    const auto id = static_cast<TensorId>(t);
    const bool written = std::ranges::any_of(statements, [&](const Statement& statement) {
      return std::ranges::any_of(statement.writes,
                                 [&](const Write& write) { return write.tensor == id; });
    });
    if (!written) continue;
    by_tensor.push_back(ComputeTensor(id, original));
    if (!by_tensor.back().flow.ok() || !by_tensor.back().reuse.ok()) {
      return Fail(ErrorCode::kResourceLimit,
                  "the dependences of tensor {} need more than isl's quota of operations",
                  tensors[t].name);
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

// One check of a tree: the times of its statements, and what follows from its structure.
class Check {
 public:
  Check(isl_ctx* ctx, const std::vector<Tensor>& tensors, const ScheduleTree& tree,
        ReductionOrder order)
      : ctx_(ctx), tensors_(tensors), tree_(tree), order_(order) {
    BuildTimes();
    CollectStages(tree.root, 0, {});
  }

  Status Run(const TensorDependences& dependences) const;

 private:
  struct Stage {
    TensorId tensor;
    size_t depth;  // entries of time before the stage
    std::vector<StatementId> inside;
  };
  struct KindedLoop {
    VarId loop;
    size_t depth;  // its entry of time
    std::vector<StatementId> inside;
  };

  void BuildTimes();
  void CollectStages(const TreeNode& node, size_t depth, std::vector<VarId> loops);
  const Stage* StageOf(TensorId tensor) const;
  isl::Map Relation(const std::string& condition) const;
  isl::UnionMap BetweenTimes(const isl::Map& relation) const;
  std::string EqualBefore(size_t depth) const;
  isl::UnionMap WithoutOwnReductions(const isl::UnionMap& dependences) const;
  isl::UnionMap Within(const isl::UnionMap& dependences,
                       const std::vector<StatementId>& statements) const;
  Status CheckConfined(const Stage& stage) const;
  Status Expect(const isl::UnionMap& dependences, const std::string& violating,
                const std::string& what) const;

  isl_ctx* ctx_;
  const std::vector<Tensor>& tensors_;
  const ScheduleTree& tree_;
  ReductionOrder order_;
  size_t length_ = 0;
  isl::UnionMap times_;
  std::vector<Stage> stages_;
  std::vector<KindedLoop> kinded_;
};

void Check::BuildTimes() {
  std::vector<std::vector<IndexExpr>> times;
  for (size_t s = 0; s < tree_.statements.size(); ++s) {
    times.push_back(TimeOf(tree_, static_cast<StatementId>(s)));
    length_ = std::max(length_, times.back().size());
  }
  times_ = isl::UnionMap(isl_union_map_read_from_str(ctx_, "{ }"));
  for (size_t s = 0; s < times.size(); ++s) {
    times[s].resize(length_, IndexExpr(0));
    const std::string text =
        TimeText(static_cast<StatementId>(s), tree_.statements[s], times[s]);
    times_ = isl::UnionMap(isl_union_map_union(
        times_.take(), isl_union_map_read_from_str(ctx_, text.c_str())));
  }
}

void Check::CollectStages(const TreeNode& node, size_t depth, std::vector<VarId> loops) {
  if (node.kind == TreeNode::Kind::kAlloc) {
    stages_.push_back({node.tensor, depth, StatementsBelow(node)});
  }
  if (node.kind == TreeNode::Kind::kLoop) {
    const LoopKind kind = tree_.loops[node.loop].kind;
    if (kind != LoopKind::kSerial && kind != LoopKind::kUnrolled) {
      kinded_.push_back({node.loop, depth, StatementsBelow(node)});
    }
  }
  const bool has_entry = node.kind == TreeNode::Kind::kLoop ||
                         node.kind == TreeNode::Kind::kSequence;
  for (const TreeNode& child : node.children) {
    CollectStages(child, depth + (has_entry ? 1 : 0), loops);
  }
}

const Check::Stage* Check::StageOf(TensorId tensor) const {
  const auto found =
      std::ranges::find_if(stages_, [&](const Stage& stage) { return stage.tensor == tensor; });
  return found == stages_.end() ? nullptr : &*found;
}

// A relation between times a and b.
isl::Map Check::Relation(const std::string& condition) const {
  std::string from;
  std::string to;
  for (size_t i = 0; i < length_; ++i) {
    from += fmt::format("{}a{}", i > 0 ? ", " : "", i);
    to += fmt::format("{}b{}", i > 0 ? ", " : "", i);
  }
  const std::string text = fmt::format("{{ [{}] -> [{}] : {} }}", from, to, condition);
  return isl::Map(isl_map_read_from_str(ctx_, text.c_str()));
}

std::string Check::EqualBefore(size_t depth) const {
  std::string text = "1 = 1";
  for (size_t i = 0; i < depth; ++i) text += fmt::format(" and a{} = b{}", i, i);
  return text;
}

// All pairs of instances whose times are so related.
isl::UnionMap Check::BetweenTimes(const isl::Map& relation) const {
  isl_union_map* related =
      isl_union_map_apply_range(times_.copy(), isl_union_map_from_map(relation.copy()));
  return isl::UnionMap(
      isl_union_map_apply_range(related, isl_union_map_reverse(times_.copy())));
}

isl::UnionMap Check::WithoutOwnReductions(const isl::UnionMap& dependences) const {
  isl::UnionMap kept = dependences;
  for (size_t s = 0; s < tree_.statements.size(); ++s) {
    const Statement& statement = tree_.statements[s];
    if (!statement.reducer || !statement.reducer->reorderable) continue;
    const std::string domain = DomainText(static_cast<StatementId>(s), statement);
    isl_union_set* set = isl_union_set_read_from_str(ctx_, domain.c_str());
    isl_union_map* own =
        isl_union_map_from_domain_and_range(isl_union_set_copy(set), set);
    kept = isl::UnionMap(isl_union_map_subtract(kept.take(), own));
  }
  return kept;
}

isl::UnionMap Check::Within(const isl::UnionMap& dependences,
                            const std::vector<StatementId>& statements) const {
  isl::UnionSet inside(isl_union_set_read_from_str(ctx_, "{ }"));
  for (const StatementId s : statements) {
    const std::string domain = DomainText(s, tree_.statements[s]);
    inside = isl::UnionSet(isl_union_set_union(
        inside.take(), isl_union_set_read_from_str(ctx_, domain.c_str())));
  }
  isl_union_map* within = isl_union_map_intersect_domain(dependences.copy(), inside.copy());
  return isl::UnionMap(isl_union_map_intersect_range(within, inside.copy()));
}

// An example of a violated dependence in words.
std::string Describe(const isl::UnionMap& violated, const ScheduleTree& tree) {
  isl_map_list* maps = violated.ok() ? isl_union_map_get_map_list(violated.get()) : nullptr;
  if (maps == nullptr || isl_map_list_n_map(maps) == 0) {
    isl_map_list_free(maps);
    return "unknown";
  }
  const isl::Map sample(isl_map_from_basic_map(isl_map_sample(isl_map_list_get_map(maps, 0))));
  isl_map_list_free(maps);
  char* raw = isl_map_to_str(sample.get());
  std::string text = raw ? raw : "";
  free(raw);
  // Later numbers first, so that S1 is not found in S12.
  for (size_t s = tree.statements.size(); s-- > 0;) {
    const std::string tuple = fmt::format("S{}[", s);
    for (size_t at; (at = text.find(tuple)) != std::string::npos;) {
      text.replace(at, tuple.size(), tree.statements[s].name + "(");
      if (const size_t end = text.find(']', at); end != std::string::npos) text[end] = ')';
    }
  }
  return text;
}

Status Check::Expect(const isl::UnionMap& dependences, const std::string& violating,
                     const std::string& what) const {
  const isl::UnionMap bad = BetweenTimes(Relation(violating));
  const isl::UnionMap violated(isl_union_map_intersect(dependences.copy(), bad.copy()));
  const isl_bool empty = violated.ok() ? isl_union_map_is_empty(violated.get()) : isl_bool_error;
  if (empty == isl_bool_error) {
    return Fail(ErrorCode::kResourceLimit, "legality needs more than isl's quota of operations");
  }
  if (empty == isl_bool_true) return {};
  return Fail(ErrorCode::kIllegalSchedule, "{}: dependence {}", what,
              Describe(violated, tree_));
}

// time(a) >= time(b), lexicographically.
std::string NotBefore(size_t length) {
  std::string condition;
  std::string equal;
  for (size_t i = 0; i < length; ++i) {
    condition += fmt::format("{}({}a{} > b{})", i > 0 ? " or " : "", equal, i, i);
    equal += fmt::format("a{} = b{} and ", i, i);
  }
  equal.resize(equal.size() - std::string_view(" and ").size());
  return fmt::format("{} or ({})", condition, equal);
}

// Only statements inside the stage may touch its tensor.
Status Check::CheckConfined(const Stage& stage) const {
  for (size_t s = 0; s < tree_.statements.size(); ++s) {
    if (std::ranges::find(stage.inside, static_cast<StatementId>(s)) != stage.inside.end()) {
      continue;
    }
    const Statement& statement = tree_.statements[s];
    const auto touches = [&](const auto& access) { return access.tensor == stage.tensor; };
    if (std::ranges::any_of(statement.reads, touches) ||
        std::ranges::any_of(statement.writes, touches)) {
      return Fail(ErrorCode::kIllegalSchedule, "stage of {}: statement {} outside it uses it",
                  tensors_[stage.tensor].name, statement.name);
    }
  }
  return {};
}

Status Check::Run(const TensorDependences& dependences) const {
  const std::string& name = tensors_[dependences.tensor].name;
  const Stage* stage = StageOf(dependences.tensor);
  isl::UnionMap reuse = dependences.reuse;
  if (stage != nullptr) {
    TUNEC_RETURN_IF_ERROR(CheckConfined(*stage));
    const std::string same_run = EqualBefore(stage->depth);
    const isl::UnionMap within = BetweenTimes(Relation(same_run));
    isl_union_map* between_runs = isl_union_map_subtract(dependences.flow.copy(), within.copy());
    const isl::UnionMap escaping(between_runs);
    if (!escaping.ok() || isl_union_map_is_empty(escaping.get()) != isl_bool_true) {
      return Fail(ErrorCode::kIllegalSchedule,
                  "stage of {}: a value passes between runs of the stage: dependence {}", name,
                  Describe(escaping, tree_));
    }
    reuse = isl::UnionMap(isl_union_map_intersect(reuse.take(), within.copy()));
  }
  isl::UnionMap all(isl_union_map_union(dependences.flow.copy(), reuse.copy()));
  const isl::UnionMap others = WithoutOwnReductions(all);
  const isl::UnionMap& ordered = order_ == ReductionOrder::kAny ? others : all;
  TUNEC_RETURN_IF_ERROR(
      Expect(ordered, NotBefore(length_), fmt::format("order of accesses to {}", name)));
  for (const KindedLoop& loop : kinded_) {
    const bool vector = tree_.loops[loop.loop].kind == LoopKind::kVector;
    const isl::UnionMap& relevant =
        vector && order_ == ReductionOrder::kAny ? others : all;
    const std::string carried = fmt::format("{} and a{} != b{}", EqualBefore(loop.depth),
                                            loop.depth, loop.depth);
    TUNEC_RETURN_IF_ERROR(
        Expect(Within(relevant, loop.inside), carried,
               fmt::format("{} loop {} carries accesses to {}", vector ? "vector" : "parallel",
                           tree_.loops[loop.loop].name, name)));
  }
  return {};
}

}  // namespace

Status Dependences::Check(const ScheduleTree& tree, ReductionOrder order) const {
  TUNEC_CHECK(tree.statements.size() == impl_->statements.size(),
              "the tree has {} statements, the dependences {}", tree.statements.size(),
              impl_->statements.size());
  isl_ctx_reset_operations(impl_->context.ctx);
  const class Check check(impl_->context.ctx, impl_->tensors, tree, order);
  for (const TensorDependences& dependences : impl_->by_tensor) {
    TUNEC_RETURN_IF_ERROR(check.Run(dependences));
  }
  return {};
}

std::string Dependences::Print() const {
  std::string text;
  for (const TensorDependences& dependences : impl_->by_tensor) {
    char* raw = isl_union_map_to_str(dependences.flow.get());
    text += fmt::format("{}: {}\n", impl_->tensors[dependences.tensor].name, raw ? raw : "");
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
