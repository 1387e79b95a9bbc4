// Loops from a schedule tree.
//
// Every statement carries its conditions: its domain, over the loops around it. Walking down
// the tree, a condition is (1) dropped when the ranges of the loops prove it, (2) turned into
// a bound of the loop whose variable is the last it needs, when all statements below share
// it, or (3) put into an If where all its variables are known. An isolated loop is split
// where its conditions can no longer fail: the middle part is free of them, and an end part
// of one iteration has its variable replaced by a constant, which in turn lets ranges decide
// conditions further down. So full tiles get constant bounds and partial ones are specialised.
//
// isl's own generator does the same for any polyhedron; on the boxes with a few extra
// conditions that tensor programs have, intervals decide as much at a hundredth of the time
// (docs/decisions/0002_interval_loop_generation.md).
//
// Long, because the walk is one recursion over one context, which every part of it narrows.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "polyhedral/insert_barriers.h"
#include "polyhedral/make_store.h"
#include "polyhedral/schedule_tree.h"
#include "support/check.h"

namespace tunec {
namespace {

// What is known at one place of the tree.
struct Context {
  std::vector<Interval> range;                  // per loop
  std::vector<std::optional<IndexExpr>> value;  // per loop: its variable in the nest, or a constant
  std::vector<std::vector<IndexExpr>> conditions;  // per statement, over the tree's loops
  std::vector<bool> dead;                          // per statement: no instance here
  std::vector<const TreeNode*> undivided;          // isolated parallel loops around this place
  std::vector<VarId> undecided;                    // isolated loops that loops further in decide
  bool among_threads = false;                      // directly inside a block loop
  std::optional<int> token;                        // stores are copies that complete later
};

// Of a loop, over the nest's variables; the greatest lower and the least upper one count.
struct Bounds {
  std::vector<IndexExpr> lower;
  std::vector<IndexExpr> upper;
  bool empty() const { return lower.empty() && upper.empty(); }
};

// Of a body, the conditions that tell where all of it runs.
struct Slanted {
  std::vector<IndexExpr> open;  // that may hold or not
  bool fails = false;           // one never does, as loops further in are taken at their worst
};

// Loops that stand in a chain: of tasks, or of the threads of a block.
constexpr bool HasConstantBounds(LoopKind kind) { return NumbersTasks(kind) || IsBlock(kind); }

class Generator {
 public:
  Generator(const ScheduleTree& tree, Contraction contraction) : tree_(tree) {
    nest_.contraction = contraction;
  }

  Result<LoopNest> Run();

 private:
  Context Start();
  Body Generate(const TreeNode& node, Context context);
  Body GenerateKind(const TreeNode& node, Context context);
  Body GenerateLoop(const TreeNode& node, Context context);
  Body GenerateParts(const TreeNode& node, const Context& context, const Bounds& bounds);
  Body DivideTasks(const TreeNode& node, Context context);
  Body GeneratePipeline(const TreeNode& node, const Context& context, Interval range);
  Body BeginCopies(const TreeNode& node, Context context);
  Body PipelineIteration(const TreeNode& node, const Context& context, Interval range);
  Body Iterate(VarId loop, Context context, Interval range,
               const std::function<Body(Context)>& generate);
  std::vector<Interval> Parts(const TreeNode& loop, const Context& context) const;
  void AddImplied(const TreeNode& node, const std::vector<StatementId>& live, Context& context,
                  Bounds& bounds) const;
  void AddBounds(VarId loop, const IndexExpr& condition, Context& context, Bounds& bounds) const;
  void AddPrefetches(StatementId statement, const Context& context, Body& body) const;
  Body GenerateRange(const TreeNode& node, Context context, Interval range, const Bounds& bounds);
  Body GenerateInside(const TreeNode& node, Context context);
  Slanted SlantedConditions(const TreeNode& node, const std::vector<VarId>& asking,
                            const Context& context) const;
  bool Contradict(const std::vector<IndexExpr>& conditions, const Context& context) const;
  Body FullApart(const TreeNode& node, const Context& context,
                 const std::vector<IndexExpr>& conditions);
  StoreSite SiteOf(const Context& context) const;
  Store InstanceOf(StatementId statement, const Context& context) const;
  Body GenerateLeaf(StatementId statement, const Context& context);
  bool IsWhole(const TreeNode& node, const Context& context) const;
  Body GenerateTile(const TreeNode& node, Context context);
  Body OnePart(Body parts);
  bool HoldsThreads(const TreeNode& node) const;

  IntervalOf Ranges(const Context& context) const {
    return [&context](VarId loop) { return context.range[loop]; };
  }
  void Prove(Context& context, const TreeNode& node) const;
  bool IsBound(const IndexExpr& condition, const Context& context,
               std::optional<VarId> except = {}) const;
  bool IsImplied(const IndexExpr& condition, const IndexExpr& by, const Context& context) const;
  std::vector<IndexExpr> Shared(const Context& context, const std::vector<StatementId>& statements,
                                const std::function<bool(const IndexExpr&)>& wanted) const;
  std::vector<IndexExpr> TakeShared(Context& context, const std::vector<StatementId>& statements,
                                    const std::function<bool(const IndexExpr&)>& wanted) const;
  std::vector<StatementId> LiveBelow(const TreeNode& node, const Context& context) const;
  std::optional<Interval> CleanRange(const TreeNode& node, const Context& context) const;
  IndexExpr ToNest(const IndexExpr& over_loops, const Context& context) const;
  VarId NewVariable(const std::string& loop_name);

  const ScheduleTree& tree_;
  LoopNest nest_;
  std::set<std::string> variable_names_;
  std::map<std::string, int> copies_;  // made of a name
};

std::string Identifier(const std::string& loop_name) {
  std::string text = loop_name;
  std::ranges::replace(text, '.', '_');
  return text;
}

VarId Generator::NewVariable(const std::string& loop_name) {
  const std::string base = Identifier(loop_name);
  std::string name = base;
  while (!variable_names_.insert(name).second) name = fmt::format("{}__{}", base, ++copies_[base]);
  nest_.variables.push_back(std::move(name));
  return static_cast<VarId>(nest_.variables.size() - 1);
}

IndexExpr Generator::ToNest(const IndexExpr& over_loops, const Context& context) const {
  return Substitute(Simplify(over_loops, Ranges(context)), [&](VarId loop) -> IndexExpr {
    TUNEC_CHECK(context.value[loop].has_value(), "loop {} is used outside itself",
                tree_.loops[loop].name);
    return *context.value[loop];
  });
}

// The conditions of every statement at the root: its iterators within their extents, its
// domain, and each loop equal to the value that the schedule gives it.
Context Generator::Start() {
  Context context;
  for (const TreeLoop& loop : tree_.loops) context.range.push_back({0, loop.extent - 1});
  context.value.resize(tree_.loops.size());
  context.dead.resize(tree_.statements.size());
  for (size_t s = 0; s < tree_.statements.size(); ++s) {
    const Statement& statement = tree_.statements[s];
    const std::vector<IndexExpr>& inverse = tree_.inverse[s];
    std::vector<IndexExpr> conditions;
    for (size_t i = 0; i < statement.iterators.size(); ++i) {
      conditions.push_back(inverse[i]);
      conditions.push_back(IndexExpr(statement.iterators[i].extent - 1) - inverse[i]);
    }
    for (const IndexExpr& condition : statement.domain) {
      conditions.push_back(Substitute(condition, inverse));
    }
    for (const auto& [loop, forward] : tree_.forward[s]) {
      const IndexExpr difference =
          Simplify(Substitute(forward, inverse), Ranges(context)) - IndexExpr::Var(loop);
      if (difference == IndexExpr(0)) continue;
      conditions.push_back(difference);
      conditions.push_back(-difference);
    }
    context.conditions.push_back(std::move(conditions));
  }
  return context;
}

// Simplifies the conditions of the statements below, drops those that always hold, and marks
// the statements that have one which never does.
void Generator::Prove(Context& context, const TreeNode& node) const {
  for (const StatementId s : StatementsBelow(node)) {
    if (context.dead[s]) continue;
    std::vector<IndexExpr> open;
    for (const IndexExpr& condition : context.conditions[s]) {
      IndexExpr simplified = Simplify(condition, Ranges(context));
      const Interval bounds = BoundsOf(simplified, Ranges(context));
      if (bounds.hi < 0) context.dead[s] = true;
      if (bounds.lo < 0 && std::ranges::find(open, simplified) == open.end()) {
        open.push_back(std::move(simplified));
      }
    }
    context.conditions[s] = std::move(open);
  }
}

std::vector<StatementId> Generator::LiveBelow(const TreeNode& node, const Context& context) const {
  std::vector<StatementId> statements = StatementsBelow(node);
  std::erase_if(statements, [&](StatementId s) { return context.dead[s]; });
  return statements;
}

bool Generator::IsBound(const IndexExpr& condition, const Context& context,
                        std::optional<VarId> except) const {
  std::vector<VarId> used;
  condition.CollectVars(used);
  return std::ranges::all_of(used, [&](VarId loop) {
    return context.value[loop].has_value() || (except && *except == loop);
  });
}

// The wanted conditions that all the statements have in common.
std::vector<IndexExpr> Generator::Shared(
    const Context& context, const std::vector<StatementId>& statements,
    const std::function<bool(const IndexExpr&)>& wanted) const {
  std::vector<IndexExpr> shared;
  if (statements.empty()) return shared;
  for (const IndexExpr& condition : context.conditions[statements[0]]) {
    const bool everywhere = std::ranges::all_of(statements, [&](StatementId s) {
      const std::vector<IndexExpr>& list = context.conditions[s];
      return std::ranges::find(list, condition) != list.end();
    });
    if (everywhere && wanted(condition)) shared.push_back(condition);
  }
  return shared;
}

// Removes and returns them.
std::vector<IndexExpr> Generator::TakeShared(
    Context& context, const std::vector<StatementId>& statements,
    const std::function<bool(const IndexExpr&)>& wanted) const {
  const std::vector<IndexExpr> shared = Shared(context, statements, wanted);
  for (const StatementId s : statements) {
    std::erase_if(context.conditions[s], [&](const IndexExpr& condition) {
      return std::ranges::find(shared, condition) != shared.end();
    });
  }
  return shared;
}

Body Generator::Generate(const TreeNode& node, Context context) {
  Prove(context, node);
  const std::vector<StatementId> live = LiveBelow(node, context);
  if (live.empty()) return {};
  // Parallel loops stay an unbroken chain, and so do those over threads: what concerns them only
  // is tested inside.
  const bool is_loop = node.kind == TreeNode::Kind::kLoop;
  const bool among_threads = std::exchange(context.among_threads, false);
  const bool in_chain = is_loop && (NumbersTasks(tree_.loops[node.loop].kind) ||
                                    (among_threads && IsBlock(tree_.loops[node.loop].kind)));
  if (in_chain) return GenerateKind(node, std::move(context));
  if (!context.undivided.empty()) return DivideTasks(node, std::move(context));
  std::vector<IndexExpr> conditions;
  for (const IndexExpr& condition :
       TakeShared(context, live, [&](const IndexExpr& c) { return IsBound(c, context); })) {
    conditions.push_back(ToNest(condition, context));
  }
  Body body = GenerateKind(node, std::move(context));
  if (conditions.empty() || body.empty()) return body;
  Body wrapped;
  wrapped.push_back(NestNode{If{std::move(conditions), std::move(body)}});
  return wrapped;
}

Body Generator::GenerateKind(const TreeNode& node, Context context) {
  switch (node.kind) {
    case TreeNode::Kind::kLoop:
      return IsWhole(node, context) ? GenerateTile(node, std::move(context))
                                    : GenerateLoop(node, std::move(context));
    case TreeNode::Kind::kLeaf:
      return GenerateLeaf(node.statement, context);
    case TreeNode::Kind::kAlloc: {
      Body body;
      Alloc alloc{.tensor = node.tensor, .scope = node.scope};
      alloc.body = Generate(node.children[0], std::move(context));
      body.push_back(NestNode{std::move(alloc)});
      return body;
    }
    case TreeNode::Kind::kSequence:
      break;
  }
  Body body;
  for (const TreeNode& child : node.children) {
    Body part = Generate(child, context);
    std::ranges::move(part, std::back_inserter(body));
  }
  return body;
}

// The values of the loop for which no condition below can fail, where that is an interval.
std::optional<Interval> Generator::CleanRange(const TreeNode& node, const Context& context) const {
  Interval clean = context.range[node.loop];
  for (const StatementId s : LiveBelow(node, context)) {
    for (const IndexExpr& condition : context.conditions[s]) {
      if (!condition.Uses(node.loop)) continue;
      const int64_t coefficient = condition.Coefficient(node.loop);
      const IndexExpr rest = condition - IndexExpr::Var(node.loop) * coefficient;
      if (coefficient == 0 || rest.Uses(node.loop)) return std::nullopt;
      const int64_t least = BoundsOf(rest, Ranges(context)).lo;
      if (coefficient > 0) {
        clean.lo = std::max(clean.lo, CeilDivide(-least, coefficient));
      } else {
        clean.hi = std::min(clean.hi, FloorDivide(least, -coefficient));
      }
    }
  }
  return clean;
}

IndexExpr Alone(const IndexTerm& term) {
  if (term.atom.kind == IndexAtom::Kind::kVariable) {
    return IndexExpr::Var(term.atom.id) * term.coefficient;
  }
  TUNEC_CHECK(term.atom.kind == IndexAtom::Kind::kFloorDiv, "a loop is bounded by a loaded value");
  return IndexExpr::FloorDiv(*term.atom.numerator, term.atom.divisor) * term.coefficient;
}

// Constant bounds are in the loop's range already.
void AddBound(IndexExpr bound, std::vector<IndexExpr>& bounds) {
  if (!bound.IsConstant()) bounds.push_back(std::move(bound));
}

// A condition on the loop and loops outside it becomes a bound, and narrows the loop's range.
void Generator::AddBounds(VarId loop, const IndexExpr& condition, Context& context,
                          Bounds& bounds) const {
  Interval& range = context.range[loop];
  const int64_t coefficient = condition.Coefficient(loop);
  const IndexExpr rest = condition - IndexExpr::Var(loop) * coefficient;
  const Interval of_rest = BoundsOf(rest, Ranges(context));
  if (coefficient > 0) {  // loop >= ceil(-rest / coefficient)
    AddBound(ToNest(-IndexExpr::FloorDiv(rest, coefficient), context), bounds.lower);
    range.lo = std::max(range.lo, CeilDivide(-of_rest.hi, coefficient));
  } else {  // loop <= floor(rest / -coefficient)
    AddBound(ToNest(IndexExpr::FloorDiv(rest, -coefficient) + 1, context), bounds.upper);
    range.hi = std::min(range.hi, FloorDivide(of_rest.hi, -coefficient));
  }
}

// A condition that a loop further in will enforce says something of this one already: what is left
// of it where the loops further in help most. So the loops over tiles of a skewed domain begin at
// the first tile that is not empty. The condition itself stays.
void Generator::AddImplied(const TreeNode& node, const std::vector<StatementId>& live,
                           Context& context, Bounds& bounds) const {
  if (live.empty()) return;
  // Tasks, unrolled iterations and full tiles want constant bounds.
  const TreeLoop& loop = tree_.loops[node.loop];
  const bool bends = loop.kind == LoopKind::kSerial && !loop.isolate && !loop.IsPipelined();
  const auto later = [&](const IndexExpr& condition) {
    return condition.Coefficient(node.loop) != 0 && !condition.UsesLoaded() &&
           !IsBound(condition, context, node.loop);
  };
  for (const IndexExpr& condition : Shared(context, live, later)) {
    IndexExpr implied(condition.constant());
    for (const IndexTerm& term : condition.terms()) {
      const IndexExpr alone = Alone(term);
      implied += IsBound(alone, context, node.loop) ? alone : BoundsOf(alone, Ranges(context)).hi;
    }
    const IndexExpr rest = implied - IndexExpr::Var(node.loop) * implied.Coefficient(node.loop);
    if (rest.Uses(node.loop) || BoundsOf(implied, Ranges(context)).lo >= 0) continue;
    if (!bends && !rest.IsConstant()) continue;
    AddBounds(node.loop, implied, context, bounds);
  }
}

Body Generator::GenerateLoop(const TreeNode& node, Context context) {
  const VarId loop = node.loop;
  const std::vector<StatementId> live = LiveBelow(node, context);
  Bounds bounds;
  const bool pipelined = tree_.loops[loop].IsPipelined();
  const bool parallel = HasConstantBounds(tree_.loops[loop].kind) || pipelined;
  const auto is_bound = [&](const IndexExpr& condition) {
    const int64_t coefficient = condition.Coefficient(loop);
    const IndexExpr rest = condition - IndexExpr::Var(loop) * coefficient;
    return coefficient != 0 && !rest.Uses(loop) && IsBound(rest, context) &&
           (!parallel || rest.IsConstant());
  };
  for (const IndexExpr& condition : TakeShared(context, live, is_bound)) {
    AddBounds(loop, condition, context, bounds);
  }
  AddImplied(node, live, context, bounds);
  const Interval range = context.range[loop];
  if (range.lo > range.hi) return {};
  if (pipelined) return GeneratePipeline(node, context, range);
  const bool isolated = tree_.loops[loop].isolate && bounds.empty();
  if (isolated || !tree_.loops[loop].cuts.empty()) return GenerateParts(node, context, bounds);
  return GenerateRange(node, std::move(context), range, bounds);
}

// The range of a loop, cut where its schedule says, and of an isolated one where its conditions
// begin and cease to hold for sure.
std::vector<Interval> Generator::Parts(const TreeNode& loop, const Context& context) const {
  const Interval whole = context.range[loop.loop];
  const TreeLoop& tree_loop = tree_.loops[loop.loop];
  std::set<int64_t> begins(tree_loop.cuts.begin(), tree_loop.cuts.end());
  const std::optional<Interval> clean =
      tree_loop.isolate ? CleanRange(loop, context) : std::nullopt;
  if (clean && clean->lo <= clean->hi) begins.insert({clean->lo, clean->hi + 1});
  std::vector<Interval> parts = {whole};
  for (const int64_t begin : begins) {
    if (begin <= whole.lo || begin > whole.hi) continue;
    parts.back().hi = begin - 1;
    parts.push_back({begin, whole.hi});
  }
  return parts;
}

Body Generator::GenerateParts(const TreeNode& node, const Context& context, const Bounds& bounds) {
  if (HasConstantBounds(tree_.loops[node.loop].kind)) {
    Context inner = context;
    inner.undivided.push_back(&node);
    return GenerateRange(node, std::move(inner), context.range[node.loop], bounds);
  }
  Body body;
  for (const Interval& part : Parts(node, context)) {
    Body loop = GenerateRange(node, context, part, bounds);
    std::ranges::move(loop, std::back_inserter(body));
  }
  return body;
}

// The tasks of a phase are one unbroken chain of loops: the parts of an isolated one are told
// apart inside the chain.
Body Generator::DivideTasks(const TreeNode& node, Context context) {
  const TreeNode& divided = *context.undivided.back();
  context.undivided.pop_back();
  const VarId loop = divided.loop;
  const Interval whole = context.range[loop];
  const IndexExpr variable = *context.value[loop];
  const std::vector<Interval> parts = Parts(divided, context);
  if (parts.size() == 1) return Generate(node, std::move(context));
  Body body;
  for (const Interval& part : parts) {
    Context inner = context;
    inner.range[loop] = part;
    if (part.lo == part.hi) inner.value[loop] = IndexExpr(part.lo);
    If choice;
    if (part.lo > whole.lo) choice.nonnegative.push_back(variable - part.lo);
    if (part.hi < whole.hi) choice.nonnegative.push_back(IndexExpr(part.hi) - variable);
    choice.body = Generate(node, std::move(inner));
    if (!choice.body.empty()) body.push_back(NestNode{std::move(choice)});
  }
  return body;
}

Body Generator::GenerateRange(const TreeNode& node, Context context, Interval range,
                              const Bounds& bounds) {
  const TreeLoop& tree_loop = tree_.loops[node.loop];
  context.range[node.loop] = range;
  context.among_threads = IsBlock(tree_loop.kind);
  // The one thread of a loop over threads keeps its number.
  const bool once =
      range.lo == range.hi && bounds.empty() && (!IsBlock(tree_loop.kind) || range.lo == 0);
  if (once) {
    context.value[node.loop] = IndexExpr(range.lo);
    return Generate(node.children[0], std::move(context));
  }
  const VarId variable = NewVariable(tree_loop.name);
  context.value[node.loop] = IndexExpr::Var(variable);
  Loop loop{.var = variable,
            .kind = tree_loop.kind,
            .lower = bounds.lower,
            .upper = bounds.upper,
            .unroll = tree_loop.unroll};
  loop.lower.insert(loop.lower.begin(), IndexExpr(range.lo));
  loop.upper.insert(loop.upper.begin(), IndexExpr(range.hi + 1));
  loop.body = GenerateInside(node, std::move(context));
  Body body;
  if (!loop.body.empty()) body.push_back(NestNode{std::move(loop)});
  return body;
}

// Of isolated loops the conditions that also depend on variables outside of them: where a skewed
// domain begins and ends, which no constant cuts off. Those that loops further in decide are taken
// at their worst there.
Slanted Generator::SlantedConditions(const TreeNode& node, const std::vector<VarId>& asking,
                                     const Context& context) const {
  Slanted slanted;
  for (const StatementId s : LiveBelow(node, context)) {
    for (const IndexExpr& condition : context.conditions[s]) {
      const bool asked = std::ranges::any_of(asking, [&](VarId v) { return condition.Uses(v); });
      if (!asked || condition.UsesLoaded()) continue;
      IndexExpr worst(condition.constant());
      for (const IndexTerm& term : condition.terms()) {
        const IndexExpr alone = Alone(term);
        worst += IsBound(alone, context) ? alone : BoundsOf(alone, Ranges(context)).lo;
      }
      std::vector<VarId> used;
      worst.CollectVars(used);
      const bool varies = std::ranges::any_of(used, [&](VarId v) {
        return v != node.loop && context.value[v] && !context.value[v]->IsConstant();
      });
      const Interval bounds = BoundsOf(worst, Ranges(context));
      slanted.fails |= bounds.hi < 0;
      const bool open = bounds.lo < 0 && bounds.hi >= 0;
      if (varies && open && std::ranges::find(slanted.open, worst) == slanted.open.end()) {
        slanted.open.push_back(std::move(worst));
      }
    }
  }
  return slanted;
}

// Whether two of the conditions never hold together.
bool Generator::Contradict(const std::vector<IndexExpr>& conditions, const Context& context) const {
  for (const IndexExpr& a : conditions) {
    for (const IndexExpr& b : conditions) {
      if (BoundsOf(Simplify(a + b, Ranges(context)), Ranges(context)).hi < 0) return true;
    }
  }
  return false;
}

// What is inside a loop whose iteration is chosen. Where the worst that loops further in do leaves
// no full iteration of an isolated loop, these tell full ones apart.
Body Generator::GenerateInside(const TreeNode& node, Context context) {
  const TreeLoop& loop = tree_.loops[node.loop];
  std::vector<VarId> asking = std::exchange(context.undecided, {});
  if (loop.isolate) asking.push_back(node.loop);
  const bool serial = loop.kind == LoopKind::kSerial || loop.kind == LoopKind::kWave;
  if (asking.empty() || !(serial || loop.isolate) || HasConstantBounds(loop.kind)) {
    return Generate(node.children[0], std::move(context));
  }
  if (!loop.isolate) asking.push_back(node.loop);
  const Slanted slanted = SlantedConditions(node, asking, context);
  const bool contradict = Contradict(slanted.open, context);
  if (slanted.fails || contradict) context.undecided = asking;
  if (slanted.open.empty() || contradict) {
    return Generate(node.children[0], std::move(context));
  }
  return FullApart(node.children[0], context, slanted.open);
}

// A node twice: where the conditions hold, and where one of them does not. With a power of two
// beyond all values, floor(c / power) is 0 or -1 as c holds or not, so that the sum tells.
Body Generator::FullApart(const TreeNode& node, const Context& context,
                          const std::vector<IndexExpr>& conditions) {
  int64_t power = 1;
  for (const IndexExpr& condition : conditions) {
    const Interval bounds = BoundsOf(condition, Ranges(context));
    while (power < std::max(-bounds.lo, bounds.hi + 1)) power *= 2;
  }
  If full;
  If other;
  IndexExpr failing(-1);
  Context inside = context;
  for (const IndexExpr& condition : conditions) {
    full.nonnegative.push_back(ToNest(condition, context));
    failing -= IndexExpr::FloorDiv(full.nonnegative.back(), power);
    for (const StatementId s : LiveBelow(node, context)) {
      std::erase_if(inside.conditions[s], [&](const IndexExpr& of_statement) {
        return IsImplied(of_statement, condition, context);
      });
    }
  }
  full.body = Generate(node, std::move(inside));
  other.nonnegative.push_back(std::move(failing));
  other.body = Generate(node, context);
  Body body;
  for (If* part : {&full, &other}) {
    if (!part->body.empty()) body.push_back(NestNode{std::move(*part)});
  }
  return body;
}

// Whether a condition holds wherever another does.
bool Generator::IsImplied(const IndexExpr& condition, const IndexExpr& by,
                          const Context& context) const {
  return BoundsOf(Simplify(condition - by, Ranges(context)), Ranges(context)).lo >= 0;
}

// The body for each value of a loop in a constant range.
Body Generator::Iterate(VarId loop, Context context, Interval range,
                        const std::function<Body(Context)>& generate) {
  context.range[loop] = range;
  if (range.lo == range.hi) {
    context.value[loop] = IndexExpr(range.lo);
    return generate(std::move(context));
  }
  const VarId variable = NewVariable(tree_.loops[loop].name);
  context.value[loop] = IndexExpr::Var(variable);
  Loop node{.var = variable,
            .lower = {IndexExpr(range.lo)},
            .upper = {IndexExpr(range.hi + 1)},
            .unroll = tree_.loops[loop].unroll};
  node.body = generate(std::move(context));
  Body body;
  body.push_back(NestNode{std::move(node)});
  return body;
}

bool IsCopyOf(const TreeNode& node, const LoopPipeline& pipeline) {
  return std::ranges::all_of(StatementsBelow(node), [&](StatementId s) {
    return std::ranges::find(pipeline.copies, s) != pipeline.copies.end();
  });
}

// Below a pipelined loop: storage that its copies fill, other storage, and the sequence inside.
struct PipelineParts {
  std::vector<const TreeNode*> filled;
  std::vector<const TreeNode*> others;
  const TreeNode* sequence = nullptr;
};

PipelineParts PipelinePartsOf(const TreeNode& node, const LoopPipeline& pipeline) {
  PipelineParts parts{.filled = {}, .others = {}, .sequence = &node.children[0]};
  while (parts.sequence->kind == TreeNode::Kind::kAlloc) {
    const bool filled =
        std::ranges::find(pipeline.filled, parts.sequence->tensor) != pipeline.filled.end();
    (filled ? parts.filled : parts.others).push_back(parts.sequence);
    parts.sequence = &parts.sequence->children[0];
  }
  return parts;
}

// Storage around a body, the first outermost, so many times over.
Body InStorage(const std::vector<const TreeNode*>& storage, int stages, Body body) {
  for (const TreeNode* node : std::views::reverse(storage)) {
    Alloc alloc{.tensor = node->tensor, .scope = node->scope, .stages = stages};
    alloc.body = std::exchange(body, {});
    body.push_back(NestNode{std::move(alloc)});
  }
  return body;
}

void Append(Body& body, Body more) { std::ranges::move(more, std::back_inserter(body)); }

// Begins the copies of the iteration whose value the context has.
Body Generator::BeginCopies(const TreeNode& node, Context context) {
  const LoopPipeline& pipeline = tree_.loops[node.loop].pipeline;
  Body body;
  const IndexExpr iteration = *context.value[node.loop];
  context.token = pipeline.token;
  for (const TreeNode& child : PipelinePartsOf(node, pipeline).sequence->children) {
    if (IsCopyOf(child, pipeline)) Append(body, Generate(child, context));
  }
  body.push_back(NestNode{Arrive{pipeline.token, IndexExpr::Mod(iteration, pipeline.stages)}});
  return body;
}

// An iteration waits for its own copies, begins those of one further on, and does its work. The
// barrier after the wait also says that all threads have done with what the new copy overwrites.
Body Generator::PipelineIteration(const TreeNode& node, const Context& context, Interval range) {
  const LoopPipeline& pipeline = tree_.loops[node.loop].pipeline;
  const PipelineParts parts = PipelinePartsOf(node, pipeline);
  const int64_t ahead = pipeline.stages - 1;
  const IndexExpr now = *context.value[node.loop];
  Body body;
  body.push_back(
      NestNode{Wait{pipeline.token, IndexExpr::Mod(now, pipeline.stages),
                    IndexExpr::Mod(IndexExpr::FloorDiv(now - range.lo, pipeline.stages), 2)}});
  const bool shared = std::ranges::any_of(
      parts.filled, [](const TreeNode* stage) { return stage->scope == Scope::kShared; });
  if (shared && HoldsThreads(node)) body.push_back(NestNode{Barrier{}});
  if (range.lo + ahead <= range.hi) {
    Context later = context;
    later.range[node.loop] = {range.lo + ahead, range.hi};
    later.value[node.loop] = now + ahead;
    If begin{.nonnegative = {IndexExpr(range.hi - ahead) - now}};
    begin.body = BeginCopies(node, std::move(later));
    body.push_back(NestNode{std::move(begin)});
  }
  Body work;
  for (const TreeNode& child : parts.sequence->children) {
    if (!IsCopyOf(child, pipeline)) Append(work, Generate(child, context));
  }
  Append(body, InStorage(parts.others, 1, std::move(work)));
  return body;
}

// The storage is around the loop, several times over. The first copies are begun before the loop.
Body Generator::GeneratePipeline(const TreeNode& node, const Context& context, Interval range) {
  const LoopPipeline& pipeline = tree_.loops[node.loop].pipeline;
  const Interval first = {range.lo, std::min(range.hi, range.lo + pipeline.stages - 2)};
  Body result = Iterate(node.loop, context, first,
                        [&](Context inner) { return BeginCopies(node, std::move(inner)); });
  Append(result, Iterate(node.loop, context, range, [&](const Context& inner) {
           return PipelineIteration(node, inner, range);
         }));
  return InStorage(PipelinePartsOf(node, pipeline).filled, pipeline.stages, std::move(result));
}

void Generator::AddPrefetches(StatementId id, const Context& context, Body& body) const {
  const Statement& statement = tree_.statements[id];
  for (const auto& [loop, forward] : tree_.forward[id]) {
    for (const LoopPrefetch& prefetch : tree_.loops[loop].prefetches) {
      const auto add = [&](const auto& access, bool for_write) {
        if (access.tensor != prefetch.tensor) return;
        Prefetch ahead{.address = {access.tensor, access.index}, .for_write = for_write};
        for (IndexExpr& index : ahead.address.index) {
          index = Substitute(Substitute(index, tree_.inverse[id]), [&](VarId v) {
            return IndexExpr::Var(v) + (v == loop ? prefetch.distance : 0);
          });
          index = ToNest(index, context);
        }
        body.push_back(NestNode{std::move(ahead)});
      };
      for (const Read& read : statement.reads) add(read, false);
      for (const Write& write : statement.writes) add(write, true);
    }
  }
}

StoreSite Generator::SiteOf(const Context& context) const {
  return {.ranges = Ranges(context),
          .to_nest = [this, &context](const IndexExpr& i) { return ToNest(i, context); }};
}

Store Generator::InstanceOf(StatementId id, const Context& context) const {
  Store store = MakeStore(tree_.statements[id], tree_.inverse[id], SiteOf(context));
  store.non_temporal = tree_.non_temporal[id];
  return store;
}

Body Generator::GenerateLeaf(StatementId id, const Context& context) {
  Body body;
  const Effects effects = EffectsOf(tree_.tensors, tree_.statements[id]);
  if (effects.conditional) {
    AddPrefetches(id, context, body);
    Body stores =
        MakeConditionalStores(tree_.statements[id], effects, tree_.inverse[id], SiteOf(context));
    std::ranges::move(stores, std::back_inserter(body));
    return body;
  }
  Store store = InstanceOf(id, context);
  if (context.token) {
    body.push_back(NestNode{AsyncCopy{*context.token, store.reads[0], store.writes[0], {}}});
    return body;
  }
  AddPrefetches(id, context, body);
  body.push_back(NestNode{std::move(store)});
  return body;
}

// Whether a tile begins here and all of its iterations run.
bool Generator::IsWhole(const TreeNode& node, const Context& context) const {
  const std::optional<LoopTile>& tile = tree_.loops[node.loop].tile;
  if (!tile) return false;
  const auto full = [&](VarId loop) {
    return context.range[loop] == Interval{0, tree_.loops[loop].extent - 1};
  };
  return std::ranges::all_of(tile->loops, full) &&
         context.conditions[StatementsBelow(node).front()].empty();
}

Body Generator::GenerateTile(const TreeNode& node, Context context) {
  const LoopTile& tile = *tree_.loops[node.loop].tile;
  const StatementId statement = StatementsBelow(node).front();
  Context first = context;  // what is asked for ahead is asked for once
  for (const VarId loop : tile.loops) first.value[loop] = IndexExpr(0);
  Body result;
  AddPrefetches(statement, first, result);
  std::vector<Loop> loops;
  for (const VarId loop : tile.loops) {
    const VarId variable = NewVariable(tree_.loops[loop].name);
    context.value[loop] = IndexExpr::Var(variable);
    loops.push_back({.var = variable,
                     .kind = LoopKind::kUnrolled,
                     .lower = {IndexExpr(0)},
                     .upper = {IndexExpr(tree_.loops[loop].extent)}});
  }
  loops.back().kind = LoopKind::kVector;
  Body body;
  body.push_back(NestNode{InstanceOf(statement, context)});
  for (size_t i = loops.size(); i-- > 0;) {
    loops[i].body = std::move(body);
    body = {};
    body.push_back(NestNode{std::move(loops[i])});
  }
  result.push_back(NestNode{Tile{tile.intrinsic, std::move(body)}});
  return result;
}

bool Generator::HoldsThreads(const TreeNode& node) const {
  if (node.kind == TreeNode::Kind::kLoop && IsBlock(tree_.loops[node.loop].kind)) return true;
  return std::ranges::any_of(node.children,
                             [this](const TreeNode& child) { return HoldsThreads(child); });
}

// Parts of a phase may run at the same time. What one loop of the tree became stays one part: a
// loop of one iteration around it.
Body Generator::OnePart(Body parts) {
  if (parts.size() <= 1) return parts;
  Loop once{.var = NewVariable("once"), .lower = {IndexExpr(0)}, .upper = {IndexExpr(1)}};
  once.body = std::move(parts);
  Body body;
  body.push_back(NestNode{std::move(once)});
  return body;
}

Result<LoopNest> Generator::Run() {
  nest_.name = tree_.name;
  nest_.tensors = tree_.tensors;
  const Context start = Start();
  for (size_t i = 0; i < tree_.root.children.size(); ++i) {
    Body body = OnePart(Generate(tree_.root.children[i], start));
    if (body.empty()) continue;
    const StatementId last = StatementsBelow(tree_.root.children[i]).back();
    nest_.phases.push_back({tree_.statements[last].name, std::move(body)});
  }
  InsertBarriers(nest_);
  return std::move(nest_);
}

}  // namespace

Result<LoopNest> GenerateLoops(const ScheduleTree& tree, Contraction contraction) {
  return Generator(tree, contraction).Run();
}

}  // namespace tunec
