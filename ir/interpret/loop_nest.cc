#include <algorithm>
#include <memory>

#include "ir/interpret/assignment.h"
#include "ir/interpret/block_thread.h"
#include "ir/interpret/copies.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/races.h"
#include "ir/interpret/shuffle.h"
#include "ir/interpret/tile.h"
#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

// A node of the nest with compiled index expressions and stores.
struct Step {
  enum class Kind {
    kLoop,
    kIf,
    kStore,
    kAlloc,
    kCopy,
    kArrive,
    kWait,
    kBarrier,
    kTile,
    kShuffle,
    kBlock,
    kNothing
  };
  Kind kind = Kind::kNothing;
  VarId variable;
  LoopKind loop = LoopKind::kSerial;  // kLoop
  std::vector<FlatIndex> lower;       // kLoop
  std::vector<FlatIndex> upper;
  std::vector<FlatIndex> nonnegative;              // kIf
  std::unique_ptr<CompiledAssignment> assignment;  // kStore, and kCopy with additional variables
  TensorId tensor;                                 // kAlloc
  bool is_private = false;                         // kAlloc
  std::vector<int64_t> extent;                     // kCopy
  int token = 0;                                   // kCopy, kArrive, kWait
  std::vector<FlatIndex> stage;                    // kArrive: the stage; kWait: and the parity
  std::unique_ptr<CompiledTile> tile;              // kTile
  std::unique_ptr<CompiledShuffle> shuffle;        // kShuffle
  std::vector<Step> body;
};

std::vector<FlatIndex> Flatten(const std::vector<IndexExpr>& exprs) {
  std::vector<FlatIndex> flat;
  for (const IndexExpr& e : exprs) flat.emplace_back(e);
  return flat;
}

class Compiler {
 public:
  Compiler(const LoopNest& nest, const Storage& storage, Precision precision, BlockThread& thread)
      : nest_(nest), storage_(storage), precision_(precision), thread_(thread) {}

  Result<std::vector<Step>> CompileBody(const Body& body) {
    std::vector<Step> steps;
    for (const NestNode& node : body) {
      TUNEC_ASSIGN(Step step, std::visit([&](const auto& n) { return Compile(n); }, node.value));
      steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  Result<Step> Compile(const Loop& loop) {
    Step step{.kind = Step::Kind::kLoop, .variable = loop.var, .loop = loop.kind};
    step.lower = Flatten(loop.lower);
    step.upper = Flatten(loop.upper);
    TUNEC_ASSIGN(step.body, CompileBody(loop.body));
    return step;
  }

  Result<Step> Compile(const If& branch) {
    Step step{.kind = Step::Kind::kIf};
    step.nonnegative = Flatten(branch.nonnegative);
    TUNEC_ASSIGN(step.body, CompileBody(branch.body));
    return step;
  }

  Result<Step> Compile(const Alloc& alloc) {
    Step step{.kind = Step::Kind::kAlloc};
    step.tensor = alloc.tensor;
    step.is_private = IsPrivate(alloc.scope);
    TUNEC_ASSIGN(step.body, CompileBody(alloc.body));
    return step;
  }

  Result<Step> Compile(const Store& store) {
    Step step{.kind = Step::Kind::kStore};
    const Assignment assignment{store.reads, store.writes, store.values, store.reducer};
    step.assignment = std::make_unique<CompiledAssignment>(
        storage_, assignment, store.statement, nest_.contraction, precision_, &thread_.races());
    return step;
  }

  Result<Step> Compile(const Shuffle& shuffle) {
    Step step{.kind = Step::Kind::kShuffle};
    step.shuffle = std::make_unique<CompiledShuffle>(storage_, shuffle, thread_);
    return step;
  }

  // Compiles a copy to one assignment for all its elements. An element's position in the copied
  // sub-tensor is given by additional variables, numbered after the variables of the nest.
  Result<Step> Compile(const AsyncCopy& copy) {
    Read read = copy.from;
    Write write = copy.to;
    VarId variable = nest_.variables.next_id();
    for (size_t d = 0; d < copy.extent.size(); ++d, ++variable) {
      const IndexExpr within = IndexExpr::Var(variable);
      read.index[read.index.size() - copy.extent.size() + d] += within;
      write.index[write.index.size() - copy.extent.size() + d] += within;
    }
    const std::vector<Read> reads = {read};
    const std::vector<Write> writes = {write};
    const std::vector<Expr> values = {Expr::Read(0, nest_.tensors[read.tensor].type)};
    const std::optional<Reducer> no_reducer;
    Step step{.kind = Step::Kind::kCopy, .variable = nest_.variables.next_id()};
    step.extent = copy.extent;
    step.token = copy.token;
    step.assignment = std::make_unique<CompiledAssignment>(
        storage_, Assignment{reads, writes, values, no_reducer}, "async_copy", nest_.contraction,
        precision_, &thread_.races());
    return step;
  }

  Result<Step> Compile(const Arrive& arrive) {
    Step step{.kind = Step::Kind::kArrive, .token = arrive.token};
    step.stage = Flatten({arrive.stage});
    return step;
  }
  Result<Step> Compile(const Wait& wait) {
    Step step{.kind = Step::Kind::kWait, .token = wait.token};
    step.stage = Flatten({wait.stage, wait.parity});
    return step;
  }
  Result<Step> Compile(const Barrier&) { return Step{.kind = Step::Kind::kBarrier}; }
  Result<Step> Compile(const Prefetch&) { return Step{}; }

  Result<Step> Compile(const Roles&) {
    return Fail(ErrorCode::kUnsupported, "{}: the interpreter can't run roles at the same time",
                nest_.name);
  }

  // Compiles a tile. Under kFloat64 nothing is rounded, so a tile of one thread is executed as its
  // loops.
  Result<Step> Compile(const Tile& tile) {
    TUNEC_ASSIGN(const TileParts parts, PartsOf(tile, nest_));
    const bool is_loops = precision_ == Precision::kFloat64 && !parts.intrinsic->IsOfWarp();
    Step step{.kind = is_loops ? Step::Kind::kBlock : Step::Kind::kTile};
    if (is_loops) {
      TUNEC_ASSIGN(step.body, CompileBody(tile.body));
      return step;
    }
    step.tile = std::make_unique<CompiledTile>(storage_, parts, precision_, thread_);
    return step;
  }

  const LoopNest& nest_;
  const Storage& storage_;
  Precision precision_;
  BlockThread& thread_;
};

class Runner {
 public:
  Runner(const LoopNest& nest, const Storage& storage, BlockThread& thread)
      : storage_(storage),
        thread_(thread),
        races_(thread.races()),
        copies_(nest, storage, &races_),
        point_(nest.variables.size(), 0) {}

  Status RunPhase(std::vector<Step>& parts, const Launch& launch) {
    thread_.BeginPhase(launch);
    races_.BeginSection();
    for (Step& part : parts) {
      races_.BeginTask();
      TUNEC_RETURN_IF_ERROR(Run(part));
    }
    return {};
  }

 private:
  Status Run(std::vector<Step>& body) {
    for (Step& step : body) TUNEC_RETURN_IF_ERROR(Run(step));
    return {};
  }

  Status Run(Step& step) {
    switch (step.kind) {
      case Step::Kind::kLoop:
        return RunLoop(step);
      case Step::Kind::kIf:
        for (const FlatIndex& condition : step.nonnegative) {
          if (condition.At(point_, {}) < 0) return {};
        }
        return Run(step.body);
      case Step::Kind::kAlloc:
        return RunAlloc(step);
      case Step::Kind::kStore:
        return step.assignment->Run(point_, {});
      case Step::Kind::kCopy:
        return RunCopy(step);
      case Step::Kind::kArrive:
        copies_.Arrive(step.token, step.stage[0].At(point_, {}));
        return {};
      case Step::Kind::kWait:
        return copies_.Wait(step.token, step.stage[0].At(point_, {}), step.stage[1].At(point_, {}));
      case Step::Kind::kBarrier:
        races_.Barrier();
        return {};
      case Step::Kind::kTile:
        return step.tile->Run(point_);
      case Step::Kind::kShuffle:
        return step.shuffle->Run(point_);
      case Step::Kind::kBlock:
        return Run(step.body);
      case Step::Kind::kNothing:
        break;
    }
    return {};
  }

  Status RunLoop(Step& step) {
    int64_t lower = INT64_MIN;
    for (const FlatIndex& bound : step.lower) lower = std::max(lower, bound.At(point_, {}));
    int64_t upper = INT64_MAX;
    for (const FlatIndex& bound : step.upper) upper = std::min(upper, bound.At(point_, {}));
    for (int64_t i = lower; i < upper; ++i) {
      point_[step.variable.index()] = i;
      Enter(step.loop, i);
      TUNEC_RETURN_IF_ERROR(Run(step.body));
    }
    if (IsBlock(step.loop)) thread_.SetNumber(BlockAxis(step.loop), 0);
    return {};
  }

  // Begins the section or task of an iteration, or selects its thread, for loops that have these.
  void Enter(LoopKind loop, int64_t iteration) {
    if (loop == LoopKind::kWave) {
      races_.BeginSection();
    } else if (NumbersTasks(loop)) {
      races_.BeginTask();
    } else if (IsBlock(loop)) {
      thread_.SetNumber(BlockAxis(loop), iteration);
    }
  }

  Status RunAlloc(Step& step) {
    storage_.buffer(step.tensor).Clear();
    races_.Renew(step.tensor, step.is_private);
    copies_.Begin(step.tensor);
    TUNEC_RETURN_IF_ERROR(Run(step.body));
    return copies_.End(step.tensor);
  }

  Status RunCopy(Step& step) {
    Status status;
    std::vector<int64_t> point = point_;
    point.resize(point_.size() + step.extent.size());
    ForEachIndex(step.extent, [&](std::span<const int64_t> within) {
      std::ranges::copy(within, point.begin() + step.variable.number());
      Result<ElementCopy> copy = step.assignment->BeginCopy(point);
      if (!copy) {
        status = std::unexpected(std::move(copy).error());
        return false;
      }
      copies_.Issue(step.token, *copy);
      return true;
    });
    return status;
  }

  const Storage& storage_;
  BlockThread& thread_;
  RaceDetector& races_;
  CopiesInFlight copies_;
  std::vector<int64_t> point_;
};

// Returns a race detector that watches every written tensor if the nest has loops over waves,
// tasks or threads, or a phase of several parts. Otherwise the detector watches no tensor.
RaceDetector WatchRaces(const LoopNest& nest, const Storage& storage) {
  IdVector<TensorId, TensorId> homes;
  for (const TensorId t : nest.tensors.ids()) homes.push_back(storage.FindAliasOwner(t));
  IdVector<TensorId, int64_t> elements(nest.tensors.size(), 0);
  bool together = false;
  for (const Phase& phase : nest.phases) {
    together |= phase.body.size() > 1;
    VisitNodes(phase.body, [&](const NestNode& node) {
      const auto* loop = std::get_if<Loop>(&node.value);
      together |= loop != nullptr && (NumbersTasks(loop->kind) || IsBlock(loop->kind));
      ForEachAccess(node, [&](TensorId tensor, bool writes) {
        if (writes) elements[homes[tensor]] = storage.buffer(tensor).size();
      });
    });
  }
  if (!together) elements.assign(elements.size(), 0);
  return {std::move(homes), elements};
}

// Gives each thread its own elements of the tensors whose Allocs are per thread.
void MakePerThread(const LoopNest& nest, Storage& storage) {
  int64_t most = 1;
  for (const Phase& phase : nest.phases) most = std::max(most, LaunchOf(phase).Threads());
  ForEach<Alloc>(nest, [&](const Alloc& alloc) {
    if (alloc.per_thread) storage.MakePerThread(alloc.tensor, most);
  });
}

}  // namespace

Result<std::vector<Array>> Interpret(const LoopNest& nest, std::span<const Array> arguments,
                                     Precision precision) {
  TUNEC_RETURN_IF_ERROR(Verify(nest));
  TUNEC_ASSIGN(Storage storage, Storage::Create(nest.tensors, arguments, precision));
  MakePerThread(nest, storage);
  RaceDetector races = WatchRaces(nest, storage);
  BlockThread thread(storage, races);
  Compiler compiler(nest, storage, precision, thread);
  Runner runner(nest, storage, thread);
  std::vector<std::vector<Step>> phases;  // must outlive the run, because `races` refers to the
                                          // statement names in the steps
  for (const Phase& phase : nest.phases) {
    TUNEC_ASSIGN(std::vector<Step> parts, compiler.CompileBody(phase.body));
    phases.push_back(std::move(parts));
    TUNEC_RETURN_IF_ERROR(runner.RunPhase(phases.back(), LaunchOf(phase)));
  }
  return storage.TakeOutputs();
}

}  // namespace tunec
