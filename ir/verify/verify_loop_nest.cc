// A check of the invariants of a LoopNest.
//   Tensors: as in a Compute (verify.cc). Only a prefetch may access a local tensor outside of its
//   Alloc. Only local tensors are allocated, never inside their own Alloc, with at least one stage.
//   Variables: names are not empty and are different. A loop binds a variable that no surrounding
//   loop binds. Every use is inside the loop that binds the variable.
//   Loops: at least one lower and one upper bound, without loaded values; unroll >= 1, and 1 unless
//   serial. Parallel loops occur only in an unbroken chain at the top of a part of a phase (each
//   but the last contains just the next), with constant bounds. Wave loops are the start of this
//   chain, in a phase of one part. Grid loops occur in the same places as parallel loops, but never
//   together with them; each axis is bound once. Block loops have constant bounds from 0 on, each
//   axis once, in one chain in which each but the last contains just the next; they are not inside
//   parallel loops. A phase has at most kMostBlockThreads threads per block. Shared storage,
//   barriers, arrives and waits are outside block loops. Barriers are outside parallel loops, too.
//   A vector loop contains no loop. An unrolled loop has at most kMostUnrolled iterations.
//   Ifs: they have a condition, without loaded values.
//   Storage: only register and packed storage is per thread. If storage has several stages, its
//   first dimension has as many elements. A swizzle moves 2, 4 or 8 chunks in rows of a power of
//   two bytes that hold at least these chunks; it applies to shared storage only.
//   Stores: as statements in a Compute, over the loop variables in scope.
//   Prefetches and copies: tensors, ranks and variables as in a store. A copy has extents of at
//   most as many dimensions as either tensor, equal types, and does not write an input or weight.
//   Cache levels are 1 to 3. Arrive and Wait name the token of a copy.
//   Shuffles: alone in loops over all threads of the phase's blocks; without a guard; from one
//   private tensor to another of the same type. The distance is a power of two below kWarpThreads.
//   The number of threads along x is a multiple of twice the distance.
//   Roles: they have threads and names.
//   Tiles: a tile contains the loops and the statement of its intrinsic (PartsOf). The intrinsic
//   can access the scopes of the tensors; a tile that a warp executes can also accumulate into
//   per-thread registers. No tensor is both operand and accumulator. Tiles that a warp executes,
//   and their accumulators: see verify_fragments.cc.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "ir/loop_nest.h"
#include "ir/nest/loop_nest_names.h"
#include "ir/nest/visit_loop_nest.h"
#include "ir/tile_intrinsic.h"
#include "ir/verify/verify_fragments.h"
#include "ir/verify/verify_statement.h"

namespace tunec {
namespace {

template <class... Args>
std::unexpected<Error> Wrong(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kInvalidArgument, format, std::forward<Args>(args)...);
}

// The known properties of a variable inside its loop.
struct Binding {
  LoopKind kind = LoopKind::kSerial;
  Interval interval;
  bool exact = false;  // takes every value of the interval, independent of the other loops
};

struct StorageKind {
  Scope scope = Scope::kGlobal;
  bool per_thread = false;
};

class Verifier {
 public:
  explicit Verifier(const LoopNest& nest)
      : nest_(nest),
        context_{.tensors = nest.tensors, .in_scope = {}, .intervals = {}, .exact = {}} {
    context_.in_scope = [this](VarId v) { return bindings_.contains(v); };
    context_.intervals = [this](VarId v) {
      const auto found = bindings_.find(v);
      return found == bindings_.end() ? kUnknownInterval : found->second.interval;
    };
    context_.exact = [this](VarId v) {
      const auto found = bindings_.find(v);
      return found != bindings_.end() && found->second.exact;
    };
  }
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  Status Run() {
    TUNEC_RETURN_IF_ERROR(VerifyTensors(nest_.tensors));
    std::set<std::string> names;
    for (const std::string& name : nest_.variables) {
      if (name.empty() || !names.insert(name).second) {
        return Wrong("variable name '{}' is empty or used twice", name);
      }
    }
    ForEach<AsyncCopy>(nest_, [&](const AsyncCopy& copy) { tokens_.insert(copy.token); });
    for (const Phase& phase : nest_.phases) {
      waves_ = phase.body.size() == 1;
      launch_ = LaunchOf(phase);
      TUNEC_RETURN_IF_ERROR(Annotate(CheckBody(phase.body, true), "phase " + phase.name));
      const int64_t threads = launch_.Threads();
      if (threads > kMostBlockThreads) {
        return Wrong("phase {}: {} threads a block, at most {}", phase.name, threads,
                     kMostBlockThreads);
      }
    }
    return {};
  }

 private:
  static Status Annotate(Status status, const std::string& where) {
    if (!status) status.error().message = where + ": " + status.error().message;
    return status;
  }

  // Checks the nodes of a body. Loops over tasks and waves are allowed directly in it only if
  // `top`.
  Status CheckBody(const Body& body, bool top) {
    for (const NestNode& node : body) {
      if (const auto* loop = std::get_if<Loop>(&node.value)) {
        TUNEC_RETURN_IF_ERROR(Check(*loop, top));
      } else {
        TUNEC_RETURN_IF_ERROR(std::visit([this](const auto& n) { return Check(n); }, node.value));
      }
    }
    return {};
  }

  std::string NameOf(VarId v) const {
    return nest_.variables.contains(v) ? nest_.variables[v] : fmt::format("number {}", v);
  }

  Status CheckBounds(const Loop& loop) {
    if (loop.lower.empty() || loop.upper.empty()) return Wrong("a bound is missing");
    for (const auto* bounds : {&loop.lower, &loop.upper}) {
      for (const IndexExpr& bound : *bounds) {
        TUNEC_RETURN_IF_ERROR(VerifyIndex(bound, context_, 0));
      }
    }
    if (loop.unroll < 1 || (loop.unroll > 1 && loop.kind != LoopKind::kSerial)) {
      return Wrong("unroll is {}, expected 1, or more on a serial loop", loop.unroll);
    }
    return {};
  }

  Status CheckKind(const Loop& loop, bool top) {
    if (loop.kind == LoopKind::kWave && !(top && waves_)) {
      return Wrong("a wave loop must be around all else that its phase has");
    }
    if (NumbersTasks(loop.kind)) {
      if (!top) return Wrong("a parallel loop must be at the top of a phase, in a chain");
      const auto constant = [](const IndexExpr& e) { return e.IsConstant(); };
      if (!std::ranges::all_of(loop.lower, constant) ||
          !std::ranges::all_of(loop.upper, constant)) {
        return Wrong("a {} loop must have constant bounds", Name(loop.kind));
      }
    }
    TUNEC_RETURN_IF_ERROR(CheckBinding(loop));
    if (loop.kind == LoopKind::kVector) {
      bool holds_loop = false;
      ForEach<Loop>(loop.body, [&](const Loop&) { holds_loop = true; });
      if (holds_loop) return Wrong("a vector loop must be innermost");
    }
    if (loop.kind == LoopKind::kUnrolled && MostIterations(loop) > kMostUnrolled) {
      return Wrong("an unrolled loop must have at most {} iterations", kMostUnrolled);
    }
    return {};
  }

  bool IsAround(bool (*accepts)(LoopKind)) const {
    return std::ranges::any_of(bindings_,
                               [&](const auto& entry) { return accepts(entry.second.kind); });
  }

  static bool IsParallel(LoopKind kind) { return kind == LoopKind::kParallel; }

  // Checks that parallel, grid and block loops are nested as allowed, and that block loops have
  // constant bounds and do not start below 0.
  Status CheckBinding(const Loop& loop) {
    if (IsParallel(loop.kind) && IsAround(IsGrid)) {
      return Wrong("a parallel loop stands inside a grid loop");
    }
    if (!IsGrid(loop.kind) && !IsBlock(loop.kind)) return {};
    if (IsAround(IsParallel)) {
      return Wrong("a {} loop stands inside a parallel loop", Name(loop.kind));
    }
    for (const auto& [variable, binding] : bindings_) {
      if (binding.kind == loop.kind) {
        return Wrong("loop {} is bound to {} too", NameOf(variable), Name(loop.kind));
      }
    }
    if (!IsBlock(loop.kind)) return {};
    const auto starts_below_zero = [](const IndexExpr& e) { return e.constant() < 0; };
    const auto varies = [](const IndexExpr& e) { return !e.IsConstant(); };
    if (std::ranges::any_of(loop.lower, varies) || std::ranges::any_of(loop.upper, varies) ||
        std::ranges::all_of(loop.lower, starts_below_zero)) {
      return Wrong("a {} loop must have constant bounds from 0 on", Name(loop.kind));
    }
    if (!block_chain_ && IsAround(IsBlock)) {
      return Wrong("a {} loop must be all that the block loop around it holds", Name(loop.kind));
    }
    return {};
  }

  int64_t MostIterations(const Loop& loop) const {
    int64_t most = kUnbounded;
    for (const IndexExpr& lower : loop.lower) {
      for (const IndexExpr& upper : loop.upper) {
        most = std::min(most, BoundsOf(upper - lower, context_.intervals).hi);
      }
    }
    return most;
  }

  Binding Bind(const Loop& loop) const {
    Binding binding{.kind = loop.kind, .interval = kUnknownInterval};
    bool constant = true;
    for (const IndexExpr& bound : loop.lower) {
      constant &= bound.IsConstant();
      binding.interval.lo = std::max(binding.interval.lo, BoundsOf(bound, context_.intervals).lo);
    }
    for (const IndexExpr& bound : loop.upper) {
      constant &= bound.IsConstant();
      binding.interval.hi =
          std::min(binding.interval.hi, BoundsOf(bound, context_.intervals).hi - 1);
    }
    binding.exact = constant && binding.interval.lo <= binding.interval.hi;
    return binding;
  }

  Status Check(const Loop& loop, bool top) {
    const std::string where = "loop " + NameOf(loop.var);
    if (!nest_.variables.contains(loop.var)) {
      return Wrong("{}: there are {} variables", where, nest_.variables.size());
    }
    if (bindings_.contains(loop.var)) {
      return Wrong("{}: a loop around it binds the variable too", where);
    }
    TUNEC_RETURN_IF_ERROR(Annotate(CheckBounds(loop), where));
    TUNEC_RETURN_IF_ERROR(Annotate(CheckKind(loop, top), where));
    const Binding binding = Bind(loop);
    const bool outer_whole = context_.visits_every_point;
    // If a loop may have no iterations, the points of its body may never be visited.
    context_.visits_every_point &= binding.exact || OnceAtLeast(loop);
    bindings_.emplace(loop.var, binding);
    const bool chain = NumbersTasks(loop.kind) && loop.body.size() == 1;
    const bool outer_waves = std::exchange(waves_, waves_ && loop.kind == LoopKind::kWave);
    const bool outer_blocks =
        std::exchange(block_chain_, IsBlock(loop.kind) && loop.body.size() == 1);
    const Status status = CheckBody(loop.body, chain);
    block_chain_ = outer_blocks;
    waves_ = outer_waves;
    bindings_.erase(loop.var);
    context_.visits_every_point = outer_whole;
    return status;
  }

  bool OnceAtLeast(const Loop& loop) const {
    for (const IndexExpr& lower : loop.lower) {
      for (const IndexExpr& upper : loop.upper) {
        if (BoundsOf(upper - lower, context_.intervals).lo < 1) return false;
      }
    }
    return true;
  }

  Status Check(const Loop& loop) { return Check(loop, false); }

  Status Check(const If& branch) {
    if (branch.nonnegative.empty()) return Wrong("an if has no condition");
    for (const IndexExpr& condition : branch.nonnegative) {
      TUNEC_RETURN_IF_ERROR(Annotate(VerifyIndex(condition, context_, 0), "if"));
    }
    const bool outer_whole = std::exchange(context_.visits_every_point, false);
    const bool outer_blocks = std::exchange(block_chain_, false);
    const Status status = CheckBody(branch.body, false);
    block_chain_ = outer_blocks;
    context_.visits_every_point = outer_whole;
    return status;
  }

  Status Check(const Alloc& alloc) {
    if (!nest_.tensors.contains(alloc.tensor)) {
      return Wrong("alloc of tensor number {}, there are {}", alloc.tensor, nest_.tensors.size());
    }
    const Tensor& tensor = nest_.tensors[alloc.tensor];
    if (tensor.role != TensorRole::kLocal) {
      return Wrong("alloc of {}, whose role is {}, expected a local tensor", tensor.name,
                   Name(tensor.role));
    }
    if (alloc.stages < 1) return Wrong("alloc of {} with {} stages", tensor.name, alloc.stages);
    if (alloc.stages > 1 && (tensor.shape.empty() || tensor.shape[0] != alloc.stages)) {
      return Wrong("alloc of {} with {} stages, which its first dimension hasn't", tensor.name,
                   alloc.stages);
    }
    if (alloc.per_thread && alloc.scope != Scope::kRegister && alloc.scope != Scope::kPacked) {
      return Wrong("alloc of {}: {} storage is not per thread", tensor.name, Name(alloc.scope));
    }
    if (alloc.scope == Scope::kShared && IsAround(IsBlock)) {
      return Wrong("alloc of {}: shared storage inside a block loop", tensor.name);
    }
    TUNEC_RETURN_IF_ERROR(CheckSwizzle(alloc, tensor));
    if (!allocated_.emplace(alloc.tensor, StorageKind{alloc.scope, alloc.per_thread}).second) {
      return Wrong("alloc of {} inside another alloc of it", tensor.name);
    }
    const bool outer_blocks = std::exchange(block_chain_, false);
    const Status status = CheckBody(alloc.body, false);
    block_chain_ = outer_blocks;
    allocated_.erase(alloc.tensor);
    return status;
  }

  static Status CheckSwizzle(const Alloc& alloc, const Tensor& tensor) {
    const auto [chunks, row_bytes] = alloc.swizzle;
    if (!alloc.swizzle.MovesChunks()) return {};
    const bool few = chunks == 2 || chunks == 4 || chunks == 8;
    const bool fit = row_bytes >= chunks * Swizzle::kChunkBytes &&
                     std::has_single_bit(static_cast<unsigned>(row_bytes));
    if (alloc.scope == Scope::kShared && few && fit) return {};
    return Wrong("alloc of {}: a swizzle of {} chunks in rows of {} bytes, of {} storage",
                 tensor.name, chunks, row_bytes, Name(alloc.scope));
  }

  Status Check(const Store& store) {
    const std::string where = "store " + store.statement;
    TUNEC_RETURN_IF_ERROR(Annotate(
        VerifyAssignment({store.reads, store.writes, store.values, store.reducer}, context_),
        where));
    for (const Read& read : store.reads) {
      TUNEC_RETURN_IF_ERROR(Annotate(CheckLocal(read.tensor), where));
    }
    for (const Write& write : store.writes) {
      TUNEC_RETURN_IF_ERROR(Annotate(CheckLocal(write.tensor), where));
    }
    return {};
  }

  // Checks that an accessed local tensor is inside its Alloc. VerifyAccess must have accepted the
  // access.
  Status CheckLocal(TensorId id) const {
    const Tensor& tensor = nest_.tensors[id];
    if (tensor.role != TensorRole::kLocal) return {};
    const auto found = allocated_.find(id);
    if (found == allocated_.end()) return Wrong("{} is used outside an alloc of it", tensor.name);
    return {};
  }

  Status Check(const Prefetch& prefetch) {
    if (prefetch.level < 1 || prefetch.level > 3) {
      return Wrong("prefetch to cache level {}, expected 1 to 3", prefetch.level);
    }
    // The address may be outside the tensor, because a prefetch never faults.
    return Annotate(
        VerifyAccess(prefetch.address.tensor, prefetch.address.index, context_, 0, true),
        "prefetch");
  }

  Status Check(const AsyncCopy& copy) {
    TUNEC_RETURN_IF_ERROR(Annotate(VerifyRead(copy.from, context_, 0), "async_copy"));
    TUNEC_RETURN_IF_ERROR(
        Annotate(VerifyAccess(copy.to.tensor, copy.to.index, context_, 0, false), "async_copy"));
    const Tensor& from = nest_.tensors[copy.from.tensor];
    const Tensor& to = nest_.tensors[copy.to.tensor];
    if (copy.extent.size() > from.shape.size() || copy.extent.size() > to.shape.size()) {
      return Wrong("async_copy of {} to {} has {} extents", from.name, to.name, copy.extent.size());
    }
    if (from.type != to.type || to.role == TensorRole::kInput || to.role == TensorRole::kWeight) {
      return Wrong("async_copy of {} to {}: another type, or not writable", from.name, to.name);
    }
    TUNEC_RETURN_IF_ERROR(Annotate(CheckLocal(copy.from.tensor), "async_copy"));
    return Annotate(CheckLocal(copy.to.tensor), "async_copy");
  }

  Status Check(const Barrier&) const {
    if (IsAround(IsBlock) || IsAround(IsParallel)) {
      return Wrong("a barrier inside a block or parallel loop");
    }
    return {};
  }

  Status Check(const Shuffle& shuffle) const {
    TUNEC_RETURN_IF_ERROR(Annotate(VerifyRead(shuffle.from, context_, 0), "shuffle"));
    TUNEC_RETURN_IF_ERROR(
        Annotate(VerifyAccess(shuffle.to.tensor, shuffle.to.index, context_, 0, false), "shuffle"));
    TUNEC_RETURN_IF_ERROR(CheckPrivate(shuffle.from.tensor));
    TUNEC_RETURN_IF_ERROR(CheckPrivate(shuffle.to.tensor));
    const Tensor& from = nest_.tensors[shuffle.from.tensor];
    const Tensor& to = nest_.tensors[shuffle.to.tensor];
    if (shuffle.from.guard || from.type != to.type || shuffle.from.tensor == shuffle.to.tensor) {
      return Wrong("shuffle of {} to {}: a guard, another type, or the same tensor", from.name,
                   to.name);
    }
    return CheckWarps(shuffle);
  }

  Status CheckPrivate(TensorId id) const {
    TUNEC_RETURN_IF_ERROR(Annotate(CheckLocal(id), "shuffle"));
    const auto found = allocated_.find(id);
    if (found != allocated_.end() && IsPrivate(found->second.scope)) return {};
    return Wrong("shuffle: {} is not in private storage", nest_.tensors[id].name);
  }

  // Checks that all threads of the block execute the shuffle, and that the partner of each thread
  // is in the same warp.
  Status CheckWarps(const Shuffle& shuffle) const {
    const auto thread = bindings_.find(shuffle.thread);
    if (thread == bindings_.end() || thread->second.kind != LoopKind::kBlockX) {
      return Wrong("shuffle: the variable is not the thread's number along x");
    }
    std::array<bool, 3> all = {};
    for (size_t axis = 0; axis < all.size(); ++axis) all.at(axis) = launch_.block.at(axis) == 1;
    for (const auto& [variable, binding] : bindings_) {
      if (!IsBlock(binding.kind)) continue;
      const size_t axis = BlockAxis(binding.kind);
      all.at(axis) = binding.interval == Interval{0, launch_.block.at(axis) - 1};
    }
    if (!block_chain_ || !all[0] || !all[1] || !all[2]) {
      return Wrong("a shuffle must be alone in loops over all threads of the block");
    }
    const int64_t distance = shuffle.distance;
    const bool power = distance > 0 && (distance & (distance - 1)) == 0;
    if (power && distance < kWarpThreads && launch_.block[0] % (2 * distance) == 0) return {};
    return Wrong("a shuffle over {} threads at distance {}", launch_.block[0], distance);
  }

  Status CheckToken(int token) const {
    if (tokens_.contains(token)) return {};
    return Wrong("token {} belongs to no copy", token);
  }

  Status Check(const Arrive& arrive) {
    if (IsAround(IsBlock)) return Wrong("an arrive inside a block loop");
    TUNEC_RETURN_IF_ERROR(Annotate(CheckToken(arrive.token), "arrive"));
    return Annotate(VerifyIndex(arrive.stage, context_, 0), "arrive");
  }

  Status Check(const Wait& wait) {
    if (IsAround(IsBlock)) return Wrong("a wait inside a block loop");
    TUNEC_RETURN_IF_ERROR(Annotate(CheckToken(wait.token), "wait"));
    TUNEC_RETURN_IF_ERROR(Annotate(VerifyIndex(wait.stage, context_, 0), "wait"));
    return Annotate(VerifyIndex(wait.parity, context_, 0), "wait");
  }

  Status Check(const Roles& roles) {
    for (const Role& role : roles.roles) {
      if (role.name.empty() || role.threads < 1) {
        return Wrong("role '{}' has {} threads", role.name, role.threads);
      }
      TUNEC_RETURN_IF_ERROR(Annotate(CheckBody(role.body, false), "role " + role.name));
    }
    return {};
  }

  Status Check(const Tile& tile) {
    // The parts that PartsOf reads must be well-formed first.
    TUNEC_RETURN_IF_ERROR(Annotate(CheckBody(tile.body, false), "tile " + tile.intrinsic));
    TUNEC_ASSIGN(const TileParts parts, PartsOf(tile, nest_));
    const TensorId accumulator = parts.store->writes[0].tensor;
    const TensorId left = parts.store->reads[parts.left].tensor;
    const TensorId right = parts.store->reads[parts.right].tensor;
    for (const TensorId operand : {left, right}) {
      const auto home = [&](TensorId id) { return nest_.tensors[id].alias.value_or(id); };
      if (home(operand) != home(accumulator)) continue;
      return Wrong("tile {}: {} is an operand and the accumulator", tile.intrinsic,
                   nest_.tensors[operand].name);
    }
    TUNEC_RETURN_IF_ERROR(CheckScope(tile, parts.intrinsic->left, left));
    TUNEC_RETURN_IF_ERROR(CheckScope(tile, parts.intrinsic->right, right));
    if (parts.intrinsic->IsOfWarp() && IsRegisterOfThread(accumulator)) return {};
    return CheckScope(tile, parts.intrinsic->accumulator, accumulator);
  }

  StorageKind StorageOf(TensorId id) const {
    const auto found = allocated_.find(id);
    return found == allocated_.end() ? StorageKind{} : found->second;
  }

  bool IsRegisterOfThread(TensorId id) const {
    const StorageKind storage = StorageOf(id);
    return storage.per_thread && storage.scope == Scope::kRegister;
  }

  Status CheckScope(const Tile& tile, const TileOperand& operand, TensorId id) const {
    const Scope scope = StorageOf(id).scope;
    if (std::ranges::find(operand.scopes, scope) != operand.scopes.end()) return {};
    return Wrong("tile {}: {} is in {} storage, which the tile cannot access", tile.intrinsic,
                 nest_.tensors[id].name, Name(scope));
  }

  const LoopNest& nest_;
  VerifyContext context_;
  bool waves_ = false;        // wave loops are allowed here
  Launch launch_;             // launch of the phase
  bool block_chain_ = false;  // directly in a block loop that contains one node
  std::map<VarId, Binding> bindings_;
  std::map<TensorId, StorageKind> allocated_;
  std::set<int> tokens_;
};

}  // namespace

Status Verify(const LoopNest& nest) {
  TUNEC_RETURN_IF_ERROR(Verifier(nest).Run());
  return VerifyFragments(nest);
}

}  // namespace tunec
