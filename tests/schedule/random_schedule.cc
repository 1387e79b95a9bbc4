#include "tests/schedule/random_schedule.h"

#include <algorithm>
#include <array>
#include <optional>

#include "polyhedral/generate/generate.h"
#include "polyhedral/schedule_tree.h"
#include "schedule/steps/apply_compute_steps.h"
#include "schedule/steps/apply_loop_steps.h"
#include "schedule/steps/step_text.h"

namespace tunec::test {
namespace {

class Generator {
 public:
  Generator(const Compute& compute, std::mt19937& random) : compute_(compute), random_(random) {}

  Schedule Run(int length) {
    schedule_.lowering = "direct";
    const int rewrites = Below(3) == 0 ? 1 + Below(3) : 0;
    for (int i = 0; i < rewrites; ++i) AddComputeStep();
    const std::optional<DotPlan> dot = Below(5) == 0 ? PlanDot() : std::nullopt;
    TakeSplitConstants();
    if (Below(5) == 0) CopyByHand();
    tree_ = OriginalTree(compute_);
    if (copied_) {
      PipelineByHand();
    } else if (dot) {
      TensorizeDot(*dot);
    } else if (Below(4) == 0) {
      TensorizeColumns();
    } else if (Below(4) == 0) {
      TileByHand();
    }
    if (Below(4) == 0) {
      BindByHand();
    } else if (Below(3) == 0) {
      SumByThreads();
    }
    for (int i = 0; i < length; ++i) AddLoopStep();
    return std::move(schedule_);
  }

 private:
  int Below(size_t n) { return static_cast<int>(random_() % std::max<size_t>(n, 1)); }
  template <class Vector>
  const auto& Any(const Vector& all) {
    return all.begin()[Below(all.size())];
  }

  // Rewrites the Compute by the step and adds the step to the schedule, unless the step fails.
  template <class T>
  void Rewrite(T step) {
    if (auto result = Apply(compute_, step)) {
      compute_ = std::move(*result);
      schedule_.Add(std::move(step));
    }
  }

  void AddComputeStep() {
    const Statement& statement = Any(compute_.statements);
    switch (Below(10)) {
      case 0:
        return Rewrite(InlineStep{statement.name});
      case 6:
        return Rewrite(RandomPad(statement));
      case 5:
        return Rewrite(WidenStep{Any(compute_.tensors).name, statement.name});
      case 2:
        return Rewrite(RandomPrecision(statement));
      case 7:
        return NarrowCopy(statement);
      case 8:
        return Rewrite(HoistStep{statement.name});
      case 3:
        if (statement.iterators.empty()) return;
        return Rewrite(
            IndexSplitStep{statement.name, Any(statement.iterators).name, {1 + Below(5)}});
      case 1:
        if (statement.iterators.empty()) return;
        return Rewrite(ReduceSplitStep{
            statement.name, Any(statement.iterators).name, 1 + Below(6),
            Below(2) == 0 ? ReduceSplitStep::Parallel::kInner : ReduceSplitStep::Parallel::kOuter});
      case 4:
        return Rewrite(CacheWriteStep{statement.name});
      default:
        return Rewrite(RandomPack(Any(compute_.tensors)));
    }
  }

  // Removes statements that compute constants, because the pipeline computes constants in separate
  // nests. The written tensors become weights. Some of the statements get a step storage_order.
  void TakeSplitConstants() {
    EraseIf(compute_.statements, [&](const Statement& statement) {
      Tensor& written = compute_.tensors[statement.writes[0].tensor];
      const bool taken = written.constant && written.role == TensorRole::kWorkspace;
      if (!taken) return false;
      written.role = TensorRole::kWeight;
      if (Below(2) == 0) schedule_.Add(StorageOrderStep{statement.name, 1 + Below(20)});
      return true;
    });
  }

  // Returns a step with a random number of parts. Arguments have few bits, so any number is exact.
  // Computed operands need three parts.
  PrecisionStep RandomPrecision(const Statement& statement) {
    const bool few_bits = std::ranges::all_of(statement.reads, [&](const Read& read) {
      const TensorRole role = compute_.tensors[read.tensor].role;
      return role == TensorRole::kInput || role == TensorRole::kWeight;
    });
    return {statement.name, few_bits ? 1 + Below(3) : 3};
  }

  // Tries to pack a random operand of the statement, and to narrow the first copy of an argument.
  // Arguments have few bits, so the narrow copy is exact.
  void NarrowCopy(const Statement& reader) {
    if (reader.reads.empty()) return;
    const std::string name = reader.name;
    Rewrite(RandomPack(compute_.tensors[Any(reader.reads).tensor]));
    NarrowCopyOf(compute_.statements[*compute_.FindStatement(name)]);
  }

  void NarrowCopyOf(const Statement& reader) {
    for (const Statement& copy : compute_.statements) {
      if (copy.reads.size() != 1 || copy.values[0].kind() != ExprKind::kRead) continue;
      const TensorRole role = compute_.tensors[copy.reads[0].tensor].role;
      const bool of_argument = role == TensorRole::kInput || role == TensorRole::kWeight;
      if (!of_argument || copy.name == reader.name) continue;
      return Rewrite(NarrowStep{compute_.tensors[copy.writes[0].tensor].name, reader.name});
    }
  }

  // Returns a pad to small multiples, so that the added part stays small.
  PadStep RandomPad(const Statement& statement) {
    PadStep pad{statement.name, {}};
    for (const Iterator& iterator : statement.iterators) {
      if (Below(2) == 0) pad.multiples.push_back({iterator.name, 2 + Below(7)});
    }
    return pad;
  }

  PackStep RandomPack(const Tensor& tensor) {
    PackStep pack{.tensor = tensor.name};
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      const auto dimension = static_cast<int>(d);
      if (Below(2) == 0) {
        pack.axes.push_back({.dimension = dimension});
        continue;
      }
      const int64_t factor = 1 + Below(5);
      const int64_t outer = Below(3) == 0 ? factor * (1 + Below(4)) : factor;
      pack.axes.push_back({dimension, PackStep::Part::kQuotient, outer});
      if (outer != factor) pack.axes.push_back({dimension, PackStep::Part::kMiddle, factor, outer});
      pack.axes.push_back({dimension, PackStep::Part::kRemainder, factor});
    }
    std::ranges::shuffle(pack.axes, random_);
    return pack;
  }

  static void Collect(const TreeNode& node, std::vector<const TreeNode*>& loops) {
    if (node.kind == TreeNode::Kind::kLoop) loops.push_back(&node);
    for (const TreeNode& child : node.children) Collect(child, loops);
  }

  const std::string& Name(const TreeNode* loop) const { return tree_.loops[loop->loop].name; }

  // Returns the chain of loops from `loop` inward, each directly inside the previous one.
  static std::vector<const TreeNode*> Chain(const TreeNode* loop) {
    std::vector<const TreeNode*> chain = {loop};
    while (chain.back()->children[0].kind == TreeNode::Kind::kLoop) {
      chain.push_back(&chain.back()->children[0]);
    }
    return chain;
  }

  void AddLoopStep() {
    std::vector<const TreeNode*> loops;
    Collect(tree_.root, loops);
    if (!loops.empty()) Add(RandomStep(Any(loops)));
  }

  std::string NewName() { return "n" + std::to_string(schedule_.StepCount()); }

  // Tiles the loop chain of one statement, mostly with skews. May run the tiles along diagonals.
  // Programmers tile stencils like this, but independently drawn steps would rarely do so.
  void TileByHand() {
    std::vector<const TreeNode*> loops;
    for (const TreeNode& phase : tree_.root.children) {
      if (phase.kind == TreeNode::Kind::kLoop && Chain(&phase).size() > 1) loops.push_back(&phase);
    }
    if (loops.empty()) return;
    std::vector<std::string> names;
    for (const TreeNode* loop : Chain(Any(loops))) names.push_back(Name(loop));
    for (size_t i = 1; i < names.size(); ++i) {
      const std::string name = names[i] + ".s";
      if (Below(4) > 0 && Add(SkewStep{names[i], names[0], 1 + Below(2), name})) names[i] = name;
    }
    ReorderStep tiles;
    for (const std::string& name : names) {
      if (Add(SplitStep{name, {1 + Below(4)}})) tiles.loops.push_back(name + ".0");
    }
    const size_t outer = tiles.loops.size();
    for (size_t i = 0; i < outer; ++i) {
      tiles.loops.push_back(tiles.loops[i].substr(0, tiles.loops[i].size() - 1) + "1");
    }
    if (outer < 2 || !Add(tiles) || Below(3) == 0) return;
    const std::string wave = NewName();
    if (!Add(SkewStep{tiles.loops[1], tiles.loops[0], 1, wave})) return;
    Add(ReorderStep{{wave, tiles.loops[0]}});
    Add(WavefrontStep{wave});
    Add(ParallelizeStep{tiles.loops[0]});
  }

  // The names of a statement that sums products of bfloat16 numbers, and of the iterators that an
  // instruction processes.
  struct DotPlan {
    std::string statement;
    std::string column;
    std::string reduced;
    std::string row = {};  // empty for a vector instruction
  };

  std::optional<DotPlan> PlanDot() {
    const Statement statement = Any(compute_.statements);
    const size_t before = schedule_.compute_steps.size();
    Rewrite(RandomPrecision(statement));
    if (schedule_.compute_steps.size() == before) return std::nullopt;
    const Statement& sum = compute_.statements[*compute_.FindStatement(statement.name)];
    const std::optional<VarId> column = LastWritten(sum);
    for (const Read& read : sum.reads) {
      // Finds the first index that is a reduction iterator. Another index must be the column.
      std::optional<VarId> reduced;
      bool uses_column = false;
      std::vector<std::optional<VarId>> iterators;
      for (const IndexExpr& index : read.index) {
        const std::optional<VarId> iterator = index.AsVar();
        iterators.push_back(iterator);
        uses_column |= iterator && iterator == column;
        if (!iterator || reduced) continue;
        if (sum.iterators[*iterator].kind == IteratorKind::kReduction) reduced = iterator;
      }
      if (!uses_column || !reduced) continue;
      DotPlan plan{sum.name, sum.iterators[*column].name, sum.iterators[*reduced].name};
      const std::optional<std::string> row = RowBeside(sum, read);
      const bool of_matrices = row && Below(2) == 0;
      const std::string tensor = compute_.tensors[read.tensor].name;
      if (of_matrices) Rewrite(CacheWriteStep{sum.name});
      Rewrite(PackInPairs(tensor, iterators, *column, *reduced));
      if (of_matrices && PadToMatrices(plan, *row)) plan.row = *row;
      return plan;
    }
    return std::nullopt;
  }

  // Returns the name of the first iterator that the write uses and `right` does not, or nothing.
  static std::optional<std::string> RowBeside(const Statement& sum, const Read& right) {
    const auto uses = [](const std::vector<IndexExpr>& index, VarId v) {
      return std::ranges::any_of(index, [&](const IndexExpr& i) { return i.Uses(v); });
    };
    for (const VarId v : sum.iterators.ids()) {
      if (uses(sum.writes[0].index, v) && !uses(right.index, v)) return sum.iterators[v].name;
    }
    return std::nullopt;
  }

  bool PadToMatrices(const DotPlan& plan, const std::string& row) {
    const size_t before = schedule_.compute_steps.size();
    Rewrite(PadStep{plan.statement, {{row, 16}, {plan.column, 16}, {plan.reduced, 32}}});
    return schedule_.compute_steps.size() > before;
  }

  // Returns the iterator that is the last index of the statement's first write. Returns nothing if
  // the last index is not an iterator.
  static std::optional<VarId> LastWritten(const Statement& statement) {
    const std::vector<IndexExpr>& index = statement.writes[0].index;
    return index.empty() ? std::nullopt : index.back().AsVar();
  }

  // Returns a pack step that stores blocks of 16 columns by 2 reduced elements. `iterators[d]` is
  // the index of dimension d, or nothing if this index is not an iterator.
  static PackStep PackInPairs(const std::string& tensor,
                              const std::vector<std::optional<VarId>>& iterators, VarId column,
                              VarId reduced) {
    PackStep pack{.tensor = tensor};
    for (size_t d = 0; d < iterators.size(); ++d) {
      const auto dimension = static_cast<int>(d);
      if (iterators[d] == column || iterators[d] == reduced) {
        pack.axes.push_back(
            {dimension, PackStep::Part::kQuotient, iterators[d] == column ? 16 : 2});
      } else {
        pack.axes.push_back({.dimension = dimension});
      }
    }
    for (const auto& [iterator, factor] : {std::pair(column, 16), std::pair(reduced, 2)}) {
      const auto d = std::ranges::find(iterators, iterator) - iterators.begin();
      pack.axes.push_back({static_cast<int>(d), PackStep::Part::kRemainder, factor});
    }
    return pack;
  }

  void TensorizeDot(const DotPlan& plan) {
    const std::string column = plan.statement + "." + plan.column;
    const std::string reduced = plan.statement + "." + plan.reduced;
    if (!plan.row.empty()) return TensorizeMatrix(plan, column, reduced);
    if (!Add(SplitStep{column, {16}}) || !Add(SplitStep{reduced, {2}})) return;
    Tensorize({reduced + ".1", column + ".1"}, "dpbf16.avx512");
  }

  void TensorizeMatrix(const DotPlan& plan, const std::string& column, const std::string& reduced) {
    const std::string row = plan.statement + "." + plan.row;
    if (!Add(SplitStep{row, {16}}) || !Add(SplitStep{column, {16}}) ||
        !Add(SplitStep{reduced, {16, 2}})) {
      return;
    }
    Tensorize({row + ".1", reduced + ".1", reduced + ".2", column + ".1"}, "amx.bf16");
  }

  // Tries to tensorize eight or sixteen columns of a random reduction.
  void TensorizeColumns() {
    const Statement& sum = Any(tree_.statements);
    const std::optional<VarId> column = LastWritten(sum);
    if (!sum.reducer || !column) return;
    const bool wide = Below(2) == 0;
    const std::string loop = sum.name + "." + sum.iterators[*column].name;
    if (!Add(SplitStep{loop, {wide ? 16 : 8}})) return;
    Tensorize({loop + ".1"}, wide ? "fma.avx512" : "fma.avx2");
  }

  // Moves the loops `inner` inside, isolates partial tiles, and tensorizes the full tiles. Leaves
  // the step tensorize out if it fails or if no tile is full.
  void Tensorize(const std::vector<std::string>& inner, const std::string& intrinsic) {
    std::vector<const TreeNode*> loops;
    Collect(tree_.root, loops);
    for (const TreeNode* phase : loops) {
      if (phase->kind != TreeNode::Kind::kLoop) continue;
      ReorderStep order;
      for (const TreeNode* loop : Chain(phase)) {
        if (std::ranges::find(inner, Name(loop)) == inner.end()) order.loops.push_back(Name(loop));
      }
      order.loops.insert(order.loops.end(), inner.begin(), inner.end());
      if (order.loops.size() != Chain(phase).size() || !Add(order)) continue;
      for (const std::string& loop : inner) {
        Add(IsolateStep{loop.substr(0, loop.size() - 1) + "0"});
      }
      const LoopStep step = TensorizeStep{inner.front(), intrinsic};
      const ScheduleTree before = tree_;
      if (!Add(step)) return;
      // The step remains only if the loops have a full tile.
      const auto nest = GenerateLoops(tree_, Contraction::kFused);
      if (nest && Print(*nest).contains("tile " + intrinsic)) return;
      tree_ = before;
      schedule_.loop_steps.pop_back();
      return;
    }
  }

  // Changes the tree by the step and adds the step to the schedule. Returns false if this fails.
  bool Add(const LoopStep& step) {
    // A step that fails may leave the tree partly changed.
    ScheduleTree changed = tree_;
    const Status applied =
        std::visit([&](const auto& of_kind) { return Apply(changed, of_kind); }, step);
    if (!applied) return false;
    tree_ = std::move(changed);
    schedule_.Add(step);
    return true;
  }

  LoopStep RandomStep(const TreeNode* loop) {
    const std::vector<const TreeNode*> chain = Chain(loop);
    const std::string& statement = Any(tree_.statements).name;
    switch (Below(26)) {
      case 0:
        return FuseStep{Name(loop), Name(chain[chain.size() > 1 ? 1 : 0]), NewName()};
      case 1:
        return IsolateStep{Name(loop)};
      case 2:
        return UnrollStep{Name(loop), Below(3)};
      case 3:
        return VectorizeStep{Name(chain.back())};
      case 4:
        return ParallelizeStep{Name(loop)};
      case 5:
      case 6:
      case 7:
        return ComputeAtStep{statement, Name(loop)};
      case 8:
        return StageStep{Any(tree_.tensors).name, RandomStorage(), Name(loop)};
      case 9:
      case 10:
        return Reorder(chain);
      case 11:
      case 12:
        return SkewStep{Name(loop), Name(Any(chain)), 1 + Below(2), NewName()};
      case 13:
        return PeelStep{Name(loop), {1 + Below(4)}};
      case 14:
        return DistributeStep{Name(loop)};
      case 15:
        return UnrollJamStep{Name(loop), 1 + Below(4)};
      case 16:
        return SwizzleStep{Name(loop), Name(chain[chain.size() > 1 ? 1 : 0]), 1 + Below(3)};
      case 17:
        return WavefrontStep{Name(loop)};
      case 18:
        return PrefetchStep{Any(tree_.tensors).name, Name(loop), 1 + Below(4),
                            static_cast<int>(Below(3))};
      case 19:
        return ReverseComputeAtStep{statement, Name(loop)};
      case 20:
        return BindStep{Name(loop), RandomAxis(Below(2) == 0)};
      case 21:
        return PipelineStep{Name(loop), 2 + Below(3)};
      case 22:
        return StorageOrderStep{statement, 1 + Below(20)};
      case 23:
        return SwizzleStorageStep{Any(tree_.tensors).name, 2 << Below(3)};
      default: {
        SplitStep split{.loop = Name(loop)};
        for (int i = Below(2); i >= 0; --i) split.factors.push_back(1 + Below(6));
        return split;
      }
    }
  }

  LoopKind RandomAxis(bool grid) {
    const LoopKind first = grid ? LoopKind::kGridX : LoopKind::kBlockX;
    return static_cast<LoopKind>(static_cast<int>(first) + Below(3));
  }

  // Tries to bind the outer loop of a phase to blocks, and most innermost loops to threads.
  // Programmers write GPU kernels like this.
  void BindByHand() {
    std::vector<std::string> names;
    for (const TreeNode& phase : tree_.root.children) {
      if (phase.kind != TreeNode::Kind::kLoop || Below(2) == 0) continue;
      names.clear();
      for (const TreeNode* loop : Chain(&phase)) names.push_back(Name(loop));
    }
    if (names.size() < 2) return;
    if (Add(SplitStep{names[0], {1 + Below(6)}})) {
      names.insert(names.begin() + 1, names[0] + ".1");
      names[0] += ".0";
    }
    if (Below(3) > 0 && names.size() > 2) {
      std::ranges::rotate(names.begin() + 1, names.end() - 1, names.end());
      Add(ReorderStep{names});
    }
    Add(BindStep{names[0], RandomAxis(true)});
    const Statements statements = tree_.statements;  // copied, because Add replaces the tree
    for (const Statement& statement : statements) {
      if (Below(2) == 0) Add(ComputeAtStep{statement.name, names[0]});
    }
    if (Below(2) == 0) Add(StageStep{Any(tree_.tensors).name, RandomStorage(), names[0]});
    BindThreads();
  }

  // Tries to divide a reduction among threads, so that each thread sums some of the iterations.
  void SumByThreads() {
    const Statement sum = Any(tree_.statements);
    const VarId reduced(Below(sum.iterators.size()));
    if (!sum.reducer || !sum.iterators.contains(reduced)) return;
    if (sum.iterators[reduced].kind != IteratorKind::kReduction) return;
    const std::string loop = sum.name + "." + sum.iterators[reduced].name;
    constexpr std::array<int64_t, 7> kThreads = {2, 3, 4, 6, 8, 32, 64};
    if (!Add(SplitStep{loop, {Any(kThreads)}})) return;
    const std::string threads = loop + ".1";
    ReorderStep order;
    for (const TreeNode& phase : tree_.root.children) {
      if (phase.kind != TreeNode::Kind::kLoop) continue;
      const std::vector<const TreeNode*> chain = Chain(&phase);
      if (std::ranges::none_of(chain, [&](auto* at) { return Name(at) == threads; })) continue;
      for (const TreeNode* at : chain) {
        if (Name(at) != threads && Name(at) != loop + ".0") order.loops.push_back(Name(at));
      }
    }
    const size_t outer = order.loops.size();
    order.loops.push_back(threads);
    if (Below(4) > 0) order.loops.push_back(loop + ".0");
    if (!Add(order)) return;
    if (outer > 0 && Below(4) > 0) Add(BindStep{order.loops[0], RandomAxis(true)});
    if (outer > 1 && Below(2) == 0) Add(BindStep{order.loops[outer - 1], LoopKind::kBlockY});
    Add(BindStep{threads, Below(3) > 0 ? LoopKind::kBlockX : RandomAxis(false)});
    if (Below(2) == 0) BindThreads();
  }

  // Tries to add a copy step for a random operand of a random statement, and perhaps a pad. Most
  // iterators that the operand does not use have groups, and few of the others.
  void CopyByHand() {
    const Statement reader = Any(compute_.statements);
    if (reader.reads.empty()) return;
    const Read read = Any(reader.reads);
    CopyStep copy{compute_.tensors[read.tensor].name, reader.name, {}};
    for (const VarId i : reader.iterators.ids()) {
      const bool used =
          std::ranges::any_of(read.index, [&](const IndexExpr& index) { return index.Uses(i); });
      if (used) along_.push_back(reader.iterators[i].name);
      if (used ? Below(6) == 0 : Below(4) > 0)
        copy.groups.push_back({reader.iterators[i].name, 1 + Below(6)});
    }
    const size_t before = schedule_.compute_steps.size();
    Rewrite(copy);
    if (schedule_.compute_steps.size() == before) return;
    copied_ = copy;
    if (Below(2) == 0) {
      Rewrite(RandomPad(compute_.statements[*compute_.FindStatement(reader.name)]));
    }
  }

  // Tries to compute CopyByHand's copy near its use. May pipeline, vectorize and bind loops.
  void PipelineByHand() {
    std::vector<std::string> outer;
    for (const CopyStep::Group& group : copied_->groups) {
      const std::string loop = copied_->statement + "." + group.iterator;
      if (Add(SplitStep{loop, {group.factor}})) outer.push_back(loop + ".0");
    }
    if (!along_.empty()) {
      std::string loop = copied_->statement + "." + Any(along_);
      if (Add(SplitStep{loop, {1 + Below(5)}})) loop += ".0";
      outer.push_back(loop);
    }
    if (outer.empty()) return;
    ReorderStep order{outer};
    for (const TreeNode& phase : tree_.root.children) {
      if (phase.kind != TreeNode::Kind::kLoop) continue;
      const std::vector<const TreeNode*> chain = Chain(&phase);
      const auto is_named = [&](const TreeNode* loop) {
        return std::ranges::find(outer, Name(loop)) != outer.end();
      };
      if (std::ranges::none_of(chain, is_named)) continue;
      for (const TreeNode* loop : chain) {
        if (!is_named(loop)) order.loops.push_back(Name(loop));
      }
    }
    Add(order);
    const std::string copy = copied_->tensor + ".copy";
    if (outer.size() > 1 && Below(2) == 0) Add(BindStep{outer[0], RandomAxis(true)});
    if (!Add(ComputeAtStep{copy, outer.back()})) return;
    if (!Add(StageStep{copy, RandomStorage(), outer.back()})) return;
    if (Below(2) == 0) Add(SwizzleStorageStep{copy, 2 << Below(3)});
    if (Below(4) > 0) Add(PipelineStep{outer.back(), 2 + Below(3)});
    if (Below(2) == 0) CopyVectors(copy);
    if (Below(2) == 0) BindThreads();
  }

  // Vectorizes the innermost loop of the copy, or the inner part of this loop.
  void CopyVectors(const std::string& copy) {
    const std::vector<VarId> loops = LoopsAround(tree_.root, *tree_.FindStatement(copy));
    if (loops.empty()) return;
    std::string innermost = tree_.loops[loops.back()].name;
    if (Below(2) == 0 && Add(SplitStep{innermost, {2 << Below(3)}})) innermost += ".1";
    Add(VectorizeStep{innermost});
  }

  Scope RandomStorage() {
    constexpr Scope kAll[] = {Scope::kPacked, Scope::kShared};
    return kAll[Below(2)];
  }

  // Binds most innermost loops to threads along x.
  void BindThreads() {
    std::vector<const TreeNode*> loops;
    Collect(tree_.root, loops);
    std::vector<std::string> innermost;
    for (const TreeNode* loop : loops) {
      if (loop->children[0].kind == TreeNode::Kind::kLeaf) innermost.push_back(Name(loop));
    }
    for (const std::string& name : innermost) {
      if (Below(4) > 0) Add(BindStep{name, LoopKind::kBlockX});
    }
  }

  ReorderStep Reorder(std::vector<const TreeNode*> chain) {
    std::ranges::shuffle(chain, random_);
    chain.resize(std::max<size_t>(1, chain.size() - static_cast<size_t>(Below(2))));
    ReorderStep reorder;
    for (const TreeNode* loop : chain) reorder.loops.push_back(Name(loop));
    return reorder;
  }

  Compute compute_;
  std::mt19937& random_;
  std::optional<CopyStep> copied_;
  std::vector<std::string> along_;  // iterators of the reader that the copied tensor uses
  ScheduleTree tree_;
  Schedule schedule_;
};

}  // namespace

Schedule RandomSchedule(const Compute& compute, int length, std::mt19937& random) {
  return Generator(compute, random).Run(length);
}

}  // namespace tunec::test
