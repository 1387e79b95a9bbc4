// The generation of loops from a schedule tree.
//
// Every statement has conditions over the enclosing loops, such as the conditions of its domain. On
// the way down the tree, each condition is handled in one of three ways.
//
//   (1) The condition is dropped if the ranges of the loops prove it.
//   (2) The condition becomes a bound of its innermost loop, if all live statements below have the
//       condition and the loop may have the bound.
//   (3) The condition becomes an If where all its loops are known.
//
// The range of an isolated loop is split before and after the iterations in which no condition on
// the loop can fail. The middle part has no conditions on the loop. In an end part of one
// iteration, a constant replaces the variable, so that ranges can decide more conditions below.
// Full tiles therefore get constant bounds, and partial tiles get separate code.
//
// isl's own generator handles any polyhedron. The domains of tensor programs are boxes with a few
// additional conditions, for which intervals usually suffice
// (docs/decisions/0002_interval_loop_generation.md).
#include "polyhedral/generate/generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "polyhedral/generate/generator.h"

namespace tunec {
namespace {

std::string Identifier(const std::string& loop_name) {
  std::string text = loop_name;
  std::ranges::replace(text, '.', '_');
  return text;
}

}  // namespace

VarId Generator::NewVariable(const std::string& loop_name) {
  const std::string base = Identifier(loop_name);
  std::string name = base;
  while (!variable_names_.insert(name).second) name = fmt::format("{}__{}", base, ++copies_[base]);
  return variables_.push_back(std::move(name));
}

TensorId Generator::NewTensor(const std::string& name, DataType type,
                              const std::vector<int64_t>& shape) {
  const auto [made, is_new] = own_tensors_.try_emplace(name);
  if (!is_new) return made->second;
  Tensor tensor{.name = name, .type = type, .shape = shape, .role = TensorRole::kLocal};
  while (std::ranges::find(tensors, tensor.name, &Tensor::name) != tensors.end())
    tensor.name += "_";
  return made->second = tensors.push_back(std::move(tensor));
}

VarId Generator::ThreadVariable(size_t axis) {
  std::optional<VarId>& variable = threads_.at(axis);
  if (!variable) variable = NewVariable(fmt::format("thread_{}", "xyz"[axis]));
  return *variable;
}

// Returns whether the node is a loop over tasks or waves, or continues a chain of loops over
// threads. No If may interrupt such a chain: conditions of its loops are tested inside the chain.
bool Generator::IsInChain(const TreeNode& node, bool among_threads) const {
  if (node.kind != TreeNode::Kind::kLoop) return false;
  const LoopKind kind = tree.loops[node.loop].kind;
  return NumbersTasks(kind) || (among_threads && IsBlock(kind));
}

Body Generator::Generate(const TreeNode& node, Context context) {
  context.conditions.Prove(node);
  const std::vector<StatementId> live = context.conditions.FindLiveStatements(node);
  if (live.empty()) return {};
  const bool among_threads = std::exchange(context.among_threads, false);
  if (IsInChain(node, among_threads)) return GenerateKind(node, std::move(context));
  if (!context.undivided.empty()) return DivideTasks(*this, node, std::move(context));
  const auto is_known = [&](const IndexExpr& c) { return context.conditions.IsKnown(c); };
  std::vector<IndexExpr> tests;
  for (const IndexExpr& condition : context.conditions.TakeShared(live, is_known)) {
    tests.push_back(context.conditions.ToNest(condition));
  }
  Body body = GenerateKind(node, std::move(context));
  if (tests.empty() || body.empty()) return body;
  return BodyOf(If{std::move(tests), std::move(body)});
}

Body Generator::GenerateKind(const TreeNode& node, Context context) {
  switch (node.kind) {
    case TreeNode::Kind::kLoop:
      if (IsBlock(tree.loops[node.loop].kind) && !context.in_threads) {
        return GenerateThreads(*this, node, std::move(context));
      }
      return IsWholeTile(tree, node, context.conditions)
                 ? GenerateTile(*this, node, std::move(context))
                 : GenerateLoop(*this, node, std::move(context));
    case TreeNode::Kind::kLeaf: {
      if (context.end != nullptr) return CombineParts(*this, context);
      Body leaf = GenerateLeaf(tree, node.statement, context);
      if (context.parts != nullptr) RedirectWrites(*this, node.statement, context, leaf);
      return leaf;
    }
    case TreeNode::Kind::kAlloc: {
      Alloc alloc{.tensor = node.tensor, .scope = node.scope, .swizzle = node.swizzle};
      alloc.body = Generate(node.children[0], std::move(context));
      return BodyOf(std::move(alloc));
    }
    case TreeNode::Kind::kSequence:
      break;
  }
  Body body;
  for (const TreeNode& child : node.children) Append(body, Generate(child, context));
  return body;
}

// Combines several parts into one part, by a loop of one iteration around them. Separate parts of a
// phase could run at the same time.
Body Generator::OnePart(Body parts) {
  if (parts.size() <= 1) return parts;
  Loop once{.var = NewVariable("once"), .lower = {IndexExpr(0)}, .upper = {IndexExpr(1)}};
  once.body = std::move(parts);
  return BodyOf(std::move(once));
}

// Raises the numbers of threads along the axes to those that the loops of the node need.
void Generator::CountThreads(const TreeNode& node) {
  if (node.kind == TreeNode::Kind::kLoop && IsBlock(tree.loops[node.loop].kind)) {
    int64_t& threads = block_.at(BlockAxis(tree.loops[node.loop].kind));
    threads = std::max(threads, tree.loops[node.loop].extent);
  }
  for (const TreeNode& child : node.children) CountThreads(child);
}

LoopNest Generator::Run() {
  LoopNest nest{.name = tree.name};
  const Context start{Conditions(tree)};
  for (const TreeNode& child : tree.root.children) {
    block_ = {1, 1, 1};
    CountThreads(child);
    Body body = OnePart(Generate(child, start));
    if (body.empty()) continue;
    const StatementId last = StatementsBelow(child).back();
    nest.phases.push_back({tree.statements[last].name, std::move(body)});
  }
  nest.tensors = std::move(tensors);
  nest.variables = std::move(variables_);
  return nest;
}

Result<LoopNest> GenerateLoops(const ScheduleTree& tree, Contraction contraction) {
  LoopNest nest = Generator(tree).Run();
  nest.contraction = contraction;
  return nest;
}

}  // namespace tunec
