// The generation of reductions of which each thread of a block computes a part.
//
//     block.x for t in 0 .. 64            alloc s.own: register { alloc s.other: register
//       for k                               block.x for t: s.own[t] = 0
//         s: m[i] sum= A[i, 64*k + t]       block.x for t { for k: s.own[t] sum= A[i, 64*k + t] }
//                                           for distances d of 16, 8, 4, 2, 1:
//                                             block.x for t: shuffle s.other[t] = s.own[t xor d]
//                                             block.x for t: s.own[t] sum= s.other[t]
//                                           alloc s.parts: shared
//                                             block.x for t { if t mod 32 = 0
//                                               s.parts[floor(t/32)] = s.own[t] }
//                                             for p in 0 .. 2: m[i] sum= s.parts[p] }
//
// Threads along x that share a reduction shuffle in groups. The size of a group is the largest
// power of two that divides rows of threads and warps. The results of several groups, or of threads
// along y and z, go through shared storage. The threads whose number along the reduction's loops is
// 0 read the results there. Barriers are inserted later (ir/nest/insert_barriers.h).
#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>

#include "polyhedral/access.h"
#include "polyhedral/generate/generator.h"
#include "polyhedral/thread_sums.h"

namespace tunec {

/// A reduction, the parts of which the threads of a chain of loops compute, and the parts' tensors.
struct ThreadPart {
  StatementId statement;
  ThreadSum sum;
  std::vector<VarId> chain;      // the loops over threads, outermost first
  int64_t group = 1;             // threads along x that shuffle together
  std::vector<TensorId> own;     // by write: each thread's part
  std::vector<TensorId> others;  // by write: another thread's part; only if threads shuffle
  std::vector<TensorId> parts;  // by write: results of the groups; only if there are several groups
};

namespace {

constexpr std::array kKinds = {LoopKind::kBlockX, LoopKind::kBlockY, LoopKind::kBlockZ};
constexpr size_t kAlongX = 0;
constexpr int64_t kMostAtOnce = 32;  // most parts that a thread reads at once

using Index = std::vector<IndexExpr>;

Body Over(VarId variable, LoopKind kind, int64_t extent, Body body) {
  Loop loop{.var = variable, .kind = kind, .lower = {IndexExpr(0)}, .upper = {IndexExpr(extent)}};
  loop.body = std::move(body);
  return BodyOf(std::move(loop));
}

bool Sums(const ThreadPart& part, VarId loop) {
  return std::ranges::find(part.sum.threads, loop) != part.sum.threads.end();
}

size_t AxisOf(const ScheduleTree& tree, VarId loop) { return BlockAxis(tree.loops[loop].kind); }

// Returns an index with a value for each axis along which the block has several threads. The axes
// are in the order z, y, x.
template <class Value>
Index ByAxis(const Generator& generator, Value value) {
  Index index;
  for (size_t axis = kKinds.size(); axis-- > 0;) {
    if (generator.block().at(axis) > 1) index.push_back(value(axis));
  }
  return index;
}

// Returns the current thread's numbers along the axes (ByAxis), in loops over all threads.
Index OfThread(Generator& generator) {
  return ByAxis(generator, [&](size_t axis) { return generator.Thread(axis); });
}

// Returns the numbers (ByAxis) of the thread that runs a node in the chain or after the chain.
// Along axes without a loop of the chain, the number is 0.
Index OfThread(const Generator& generator, const ThreadPart& part, const Conditions& conditions) {
  return ByAxis(generator, [&](size_t axis) {
    for (const VarId loop : part.chain) {
      if (AxisOf(generator.tree, loop) == axis) return *conditions.value(loop);
    }
    return IndexExpr(0);
  });
}

Body InAllThreads(Generator& generator, Body body) {
  for (size_t axis = 0; axis < kKinds.size(); ++axis) {
    const int64_t extent = generator.block().at(axis);
    if (extent > 1) {
      body = Over(generator.ThreadVariable(axis), kKinds.at(axis), extent, std::move(body));
    }
  }
  return body;
}

// Returns the number of parts along a loop of the chain after the threads of each group have
// combined their parts.
int64_t PartsAlong(const Generator& generator, const ThreadPart& part, VarId loop) {
  const int64_t extent = generator.tree.loops[loop].extent;
  const bool grouped = Sums(part, loop) && AxisOf(generator.tree, loop) == kAlongX;
  return grouped ? CeilDivide(extent, part.group) : extent;
}

bool LeavesSeveral(const Generator& generator, const ThreadPart& part) {
  return std::ranges::any_of(part.sum.threads,
                             [&](VarId loop) { return PartsAlong(generator, part, loop) > 1; });
}

// Makes one tensor for each write of the part's statement.
std::vector<TensorId> MakeTensors(Generator& generator, const ThreadPart& part, const char* name,
                                  const std::vector<int64_t>& shape) {
  const Statement& statement = generator.tree.statements[part.statement];
  std::vector<TensorId> tensors;
  for (const Write& write : statement.writes) {
    std::string full = statement.name + name;
    if (!tensors.empty()) full += std::to_string(tensors.size());
    tensors.push_back(generator.NewTensor(full, generator.tree.tensors[write.tensor].type, shape));
  }
  return tensors;
}

void MakeStorage(Generator& generator, ThreadPart& part) {
  std::vector<int64_t> threads;
  for (const IndexExpr& extent :
       ByAxis(generator, [&](size_t axis) { return IndexExpr(generator.block().at(axis)); })) {
    threads.push_back(extent.constant());
  }
  part.own = MakeTensors(generator, part, ".own", threads);
  if (part.group > 1) part.others = MakeTensors(generator, part, ".other", threads);
  if (!LeavesSeveral(generator, part)) return;
  std::vector<int64_t> shape;
  for (const VarId loop : part.chain) shape.push_back(PartsAlong(generator, part, loop));
  part.parts = MakeTensors(generator, part, ".parts", shape);
}

void CollectAllocated(const TreeNode& node, std::set<TensorId>& tensors) {
  if (node.kind == TreeNode::Kind::kAlloc) tensors.insert(node.tensor);
  for (const TreeNode& child : node.children) CollectAllocated(child, tensors);
}

std::vector<VarId> ChainFrom(const ScheduleTree& tree, const TreeNode& first) {
  std::vector<VarId> chain;
  const TreeNode* node = &first;
  while (node->kind == TreeNode::Kind::kLoop && IsBlock(tree.loops[node->loop].kind)) {
    chain.push_back(node->loop);
    node = &node->children[0];
  }
  return chain;
}

// Returns the reductions below the node that the threads share.
std::vector<ThreadPart> PartsBelow(Generator& generator, const TreeNode& node,
                                   const Conditions& conditions) {
  const ScheduleTree& tree = generator.tree;
  std::set<TensorId> inside;
  CollectAllocated(node, inside);
  std::vector<ThreadPart> parts;
  for (const StatementId s : conditions.FindLiveStatements(node)) {
    const Statement& statement = tree.statements[s];
    const bool of_thread = std::ranges::any_of(
        statement.writes, [&](const Write& write) { return inside.contains(write.tensor); });
    if (of_thread || !IsReorderable(tree.tensors, statement)) continue;
    auto sum = ThreadSumOf(tree, s, statement);
    if (!sum) continue;
    ThreadPart part{.statement = s, .sum = *std::move(sum), .chain = ChainFrom(tree, node)};
    const bool along_x = std::ranges::any_of(
        part.sum.threads, [&](VarId loop) { return AxisOf(tree, loop) == kAlongX; });
    if (along_x) part.group = std::gcd(generator.block()[kAlongX], kWarpThreads);
    MakeStorage(generator, part);
    parts.push_back(std::move(part));
  }
  return parts;
}

Store StoreOf(const Generator& generator, const ThreadPart& part, const char* name) {
  return {.statement = generator.tree.statements[part.statement].name + name};
}

// Adds to `store` one read of each tensor in `from`, at `index`. The store then reduces the values
// of these reads.
void ReduceFrom(const Generator& generator, const ThreadPart& part,
                const std::vector<TensorId>& from, const Index& index, Store& store) {
  for (const TensorId tensor : from) {
    store.values.push_back(
        Expr::Read(static_cast<int>(store.reads.size()), generator.tensors[tensor].type));
    store.reads.push_back({tensor, index, {}});
  }
  store.reducer = generator.tree.statements[part.statement].reducer;
}

// Returns the code before the chain, which stores the identity to each thread's part.
Body BeginParts(Generator& generator, const ThreadPart& part) {
  Store store = StoreOf(generator, part, ".own");
  store.values = generator.tree.statements[part.statement].reducer->identity;
  for (const TensorId own : part.own) store.writes.push_back({own, OfThread(generator)});
  return InAllThreads(generator, BodyOf(std::move(store)));
}

// Returns the code after the chain that combines the parts of each group. Afterwards each thread of
// a group has the result of the group.
Body CombineGroups(Generator& generator, const ThreadPart& part) {
  const Index thread = OfThread(generator);
  Body body;
  for (int64_t distance = part.group / 2; distance > 0; distance /= 2) {
    Store store = StoreOf(generator, part, ".own");
    for (size_t k = 0; k < part.own.size(); ++k) {
      Append(body,
             InAllThreads(generator, BodyOf(Shuffle{.from = {part.own[k], thread, {}},
                                                    .to = {part.others[k], thread},
                                                    .thread = generator.ThreadVariable(kAlongX),
                                                    .distance = distance})));
      store.writes.push_back({part.own[k], thread});
    }
    ReduceFrom(generator, part, part.others, thread, store);
    Append(body, InAllThreads(generator, BodyOf(std::move(store))));
  }
  return body;
}

// Returns the code by which the first thread of each group stores the group's result to shared
// storage.
Body Publish(Generator& generator, const ThreadPart& part) {
  const auto in_chain = [&](size_t axis) {
    return std::ranges::any_of(part.chain,
                               [&](VarId loop) { return AxisOf(generator.tree, loop) == axis; });
  };
  const Index thread = ByAxis(generator, [&](size_t axis) {
    return in_chain(axis) ? generator.Thread(axis) : IndexExpr(0);
  });
  Index index;
  for (const VarId loop : part.chain) {
    const size_t axis = AxisOf(generator.tree, loop);
    const bool grouped = Sums(part, loop) && axis == kAlongX;
    index.push_back(grouped ? IndexExpr::FloorDiv(generator.Thread(axis), part.group)
                            : generator.Thread(axis));
  }
  Body body;
  for (size_t k = 0; k < part.parts.size(); ++k) {
    Store store = StoreOf(generator, part, ".parts");
    store.reads = {{part.own[k], thread, {}}};
    store.values = {Expr::Read(0, generator.tensors[part.own[k]].type)};
    store.writes = {{part.parts[k], index}};
    body.emplace_back(std::move(store));
  }
  if (part.group > 1) {
    const IndexExpr x = generator.Thread(kAlongX);
    body = BodyOf(If{{IndexExpr::FloorDiv(x, part.group) * part.group - x}, std::move(body)});
  }
  for (size_t i = part.chain.size(); i-- > 0;) {
    const VarId loop = part.chain[i];
    const size_t axis = AxisOf(generator.tree, loop);
    body = Over(generator.ThreadVariable(axis), kKinds.at(axis), generator.tree.loops[loop].extent,
                std::move(body));
  }
  return body;
}

// Generates only the leaf, at the first instance over all threads that share the reduction. The
// leaf is inside the loops of the chain that do not take part in the reduction.
Body GenerateEnd(Generator& generator, const ThreadPart& part, Context context) {
  for (const std::vector<VarId>* loops : {&part.sum.threads, &part.sum.inside}) {
    for (const VarId loop : *loops) {
      context.conditions.SetRange(loop, {0, 0});
      context.conditions.SetValue(loop, IndexExpr(0));
    }
  }
  context.end = &part;
  TreeNode node{.kind = TreeNode::Kind::kLeaf, .statement = part.statement};
  for (size_t i = part.chain.size(); i-- > 0;) {
    if (Sums(part, part.chain[i])) continue;
    TreeNode loop{.kind = TreeNode::Kind::kLoop, .loop = part.chain[i]};
    loop.children.push_back(std::move(node));
    node = std::move(loop);
  }
  return generator.Generate(node, std::move(context));
}

Body InAllocs(const std::vector<TensorId>& tensors, Scope scope, Body body) {
  for (const TensorId tensor : tensors) {
    Alloc alloc{.tensor = tensor, .scope = scope};
    alloc.body = std::move(body);
    body = BodyOf(std::move(alloc));
  }
  return body;
}

}  // namespace

Body GenerateThreads(Generator& generator, const TreeNode& node, Context context) {
  context.in_threads = true;
  const std::vector<ThreadPart> parts = PartsBelow(generator, node, context.conditions);
  if (parts.empty()) return GenerateLoop(generator, node, std::move(context));
  Context inside = context;
  inside.parts = &parts;
  Body chain = GenerateLoop(generator, node, std::move(inside));
  if (chain.empty()) return {};
  Body begin;
  Body groups;
  Body published;
  Body end;
  for (const ThreadPart& part : parts) {
    Append(begin, BeginParts(generator, part));
    Append(groups, CombineGroups(generator, part));
    if (!part.parts.empty()) Append(published, Publish(generator, part));
    Append(end, GenerateEnd(generator, part, context));
  }
  Append(published, std::move(end));
  for (const ThreadPart& part : parts) {
    published = InAllocs(part.parts, Scope::kShared, std::move(published));
  }
  for (Body* next : {&chain, &groups, &published}) Append(begin, std::move(*next));
  for (const ThreadPart& part : parts) {
    begin = InAllocs(part.others, Scope::kRegister, std::move(begin));
    begin = InAllocs(part.own, Scope::kRegister, std::move(begin));
  }
  return begin;
}

void RedirectWrites(const Generator& generator, StatementId statement, const Context& context,
                    Body& leaf) {
  const auto part = std::ranges::find(*context.parts, statement, &ThreadPart::statement);
  if (part == context.parts->end()) return;
  const Index thread = OfThread(generator, *part, context.conditions);
  for (NestNode& node : leaf) {
    auto* store = std::get_if<Store>(&node.value);
    if (store == nullptr) continue;
    for (size_t k = 0; k < part->own.size(); ++k) store->writes[k] = {part->own[k], thread};
  }
}

Body CombineParts(Generator& generator, const Context& context) {
  const ThreadPart& part = *context.end;
  const ScheduleTree& tree = generator.tree;
  Store store = StoreOf(generator, part, "");
  store.writes = InstanceOf(tree, part.statement, context.conditions).writes;
  if (part.parts.empty()) {
    ReduceFrom(generator, part, part.own, OfThread(generator, part, context.conditions), store);
    return BodyOf(std::move(store));
  }
  Index index;
  std::vector<std::pair<VarId, int64_t>> loops;  // over the parts
  for (const VarId loop : part.chain) {
    const int64_t left = PartsAlong(generator, part, loop);
    if (!Sums(part, loop) || left == 1) {
      index.push_back(*context.conditions.value(loop));
      continue;
    }
    loops.emplace_back(generator.NewVariable(tree.loops[loop].name + ".part"), left);
    index.push_back(IndexExpr::Var(loops.back().first));
  }
  ReduceFrom(generator, part, part.parts, index, store);
  Body body = BodyOf(std::move(store));
  for (size_t i = loops.size(); i-- > 0;) {
    const auto [variable, left] = loops[i];
    const bool at_once = i + 1 == loops.size() && left <= kMostAtOnce;
    body = Over(variable, at_once ? LoopKind::kUnrolled : LoopKind::kSerial, left, std::move(body));
  }
  return body;
}

}  // namespace tunec
