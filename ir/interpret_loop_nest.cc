#include <algorithm>
#include <memory>

#include "ir/interpret.h"
#include "ir/interpret_assignment.h"
#include "ir/interpret_tile.h"

namespace tunec {
namespace {

// The tree of a nest with its index expressions and stores compiled.
struct Step {
  enum class Kind { kLoop, kIf, kStore, kAlloc, kCopy, kTile, kBlock, kNothing };
  Kind kind = Kind::kNothing;
  VarId variable = 0;
  std::vector<FlatIndex> lower;  // kLoop
  std::vector<FlatIndex> upper;
  std::vector<FlatIndex> nonnegative;              // kIf
  std::unique_ptr<CompiledAssignment> assignment;  // kStore, and kCopy over its own variables
  ElementBuffer* buffer = nullptr;                 // kAlloc
  std::vector<int64_t> extent;                     // kCopy
  std::unique_ptr<CompiledTile> tile;              // kTile
  std::vector<Step> body;
};

std::vector<FlatIndex> Flatten(const std::vector<IndexExpr>& exprs) {
  std::vector<FlatIndex> flat;
  for (const IndexExpr& e : exprs) flat.emplace_back(e);
  return flat;
}

class Compiler {
 public:
  Compiler(const LoopNest& nest, const Storage& storage, Precision precision)
      : nest_(nest), storage_(storage), precision_(precision) {}

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
    Step step{.kind = Step::Kind::kLoop, .variable = loop.var};
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
    step.buffer = &storage_.buffer(alloc.tensor);
    TUNEC_ASSIGN(step.body, CompileBody(alloc.body));
    return step;
  }

  Result<Step> Compile(const Store& store) {
    Step step{.kind = Step::Kind::kStore};
    const Assignment assignment{store.reads, store.writes, store.values, store.reducer};
    step.assignment = std::make_unique<CompiledAssignment>(storage_, assignment, store.statement,
                                                           nest_.contraction, precision_);
    return step;
  }

  // The box is copied at once, element by element, over variables after those of the nest.
  Result<Step> Compile(const AsyncCopy& copy) {
    Read read = copy.from;
    Write write = copy.to;
    const auto first = static_cast<VarId>(nest_.variables.size());
    for (size_t d = 0; d < copy.extent.size(); ++d) {
      const IndexExpr within = IndexExpr::Var(first + static_cast<VarId>(d));
      read.index[d] += within;
      write.index[d] += within;
    }
    const std::vector<Read> reads = {read};
    const std::vector<Write> writes = {write};
    const std::vector<Expr> values = {Expr::Read(0, nest_.tensors[read.tensor].type)};
    const std::optional<Reducer> no_reducer;
    Step step{.kind = Step::Kind::kCopy, .variable = first};
    step.extent = copy.extent;
    step.assignment = std::make_unique<CompiledAssignment>(
        storage_, Assignment{reads, writes, values, no_reducer}, "async_copy", nest_.contraction,
        precision_);
    return step;
  }

  // Copies complete where they are issued, so there is nothing to wait for.
  Result<Step> Compile(const Arrive&) { return Step{}; }
  Result<Step> Compile(const Wait&) { return Step{}; }
  Result<Step> Compile(const Prefetch&) { return Step{}; }

  Result<Step> Compile(const Roles&) {
    return Fail(ErrorCode::kUnsupported, "{}: the interpreter can't run roles at the same time",
                nest_.name);
  }

  // Where nothing is rounded, a tile is the loops that it stands for.
  Result<Step> Compile(const Tile& tile) {
    Step step{.kind = precision_ == Precision::kNative ? Step::Kind::kTile : Step::Kind::kBlock};
    if (step.kind == Step::Kind::kBlock) {
      TUNEC_ASSIGN(step.body, CompileBody(tile.body));
      return step;
    }
    TUNEC_ASSIGN(const TileParts parts, PartsOf(tile, nest_));
    step.tile = std::make_unique<CompiledTile>(storage_, parts);
    return step;
  }

  const LoopNest& nest_;
  const Storage& storage_;
  Precision precision_;
};

class Runner {
 public:
  explicit Runner(size_t variables) : point_(variables, 0) {}

  Status Run(std::vector<Step>& body) {
    for (Step& step : body) TUNEC_RETURN_IF_ERROR(Run(step));
    return {};
  }

 private:
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
        step.buffer->Clear();
        return Run(step.body);
      case Step::Kind::kStore:
        return step.assignment->Run(point_, {});
      case Step::Kind::kCopy:
        return RunCopy(step);
      case Step::Kind::kTile:
        return step.tile->Run(point_);
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
      point_[step.variable] = i;
      TUNEC_RETURN_IF_ERROR(Run(step.body));
    }
    return {};
  }

  Status RunCopy(Step& step) {
    Status status;
    std::vector<int64_t> point = point_;
    point.resize(point_.size() + step.extent.size());
    ForEachIndex(step.extent, [&](std::span<const int64_t> within) {
      std::ranges::copy(within, point.begin() + step.variable);
      status = step.assignment->Run(point, {});
      return status.has_value();
    });
    return status;
  }

  std::vector<int64_t> point_;
};

}  // namespace

Result<std::vector<Array>> Interpret(const LoopNest& nest, std::span<const Array> arguments,
                                     Precision precision) {
  TUNEC_RETURN_IF_ERROR(Verify(nest));
  TUNEC_ASSIGN(const Storage storage, Storage::Create(nest.tensors, arguments, precision));
  Compiler compiler(nest, storage, precision);
  Runner runner(nest.variables.size());
  for (const Phase& phase : nest.phases) {
    TUNEC_ASSIGN(std::vector<Step> body, compiler.CompileBody(phase.body));
    TUNEC_RETURN_IF_ERROR(runner.Run(body));
  }
  return storage.TakeOutputs();
}

}  // namespace tunec
