// Elementwise phases for a device: elementwise work, data movement, broadcasts, transpositions, and
// reductions whose results are the lanes of vectors. A vector has up to 16 bytes. The vectors of a
// block's consecutive threads are contiguous. A thread may process several vectors (pieces), whose
// loads are in flight at the same time.
//
//   grid.x: block
//     block.x: thread
//       unrolled: piece        element ((block * pieces + piece) * threads + thread) * lanes + lane
//         vector: lane
//
// In a transposition, reads are contiguous along another dimension than the write. It is computed
// in squares with sides of up to 16 bytes. A thread reads the rows of a square, transposes the
// square in registers, and writes its columns. Consecutive threads along both dimensions access
// complete sectors of memory, so no shared storage is needed.
#include <algorithm>
#include <memory>
#include <utility>

#include "schedule/access_analysis.h"
#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/device_loops.h"
#include "schedule/sketches/device_phase.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/own_sums.h"
#include "schedule/sketches/pointwise_plan.h"

namespace tunec {
namespace {

constexpr int64_t kVectorBytes = 16;
constexpr int64_t kMostLanes = 8;
constexpr int64_t kMostPieces = 4;  // loads of a thread in flight, initially

struct ElementsChoice {
  int64_t threads = 256;
  int64_t lanes = 4;
  int64_t pieces = 1;
  int64_t rows = 16;  // rows of threads in a block, for squares
};

struct ElementsPlan {
  std::shared_ptr<const Compute> compute;
  PointwisePlan walk;
  int64_t across_extent = 1;
  int64_t square = 1;  // number of elements along a side of a square
};

// Returns the bytes of the narrowest element that is accessed along the iterator, at most
// kVectorBytes.
int64_t NarrowestBytes(const Compute& compute, const Statement& statement, VarId along) {
  int64_t narrowest = kVectorBytes;
  const auto see = [&](TensorId tensor, const std::vector<IndexExpr>& index) {
    if (!UsesIterator(index, along)) return;
    narrowest = std::min(narrowest, static_cast<int64_t>(SizeOf(compute.tensors[tensor].type)));
  };
  for (const Read& read : statement.reads) see(read.tensor, read.index);
  for (const Write& write : statement.writes) see(write.tensor, write.index);
  return narrowest;
}

// Returns the greatest power of two that divides the extent, at most `most`.
int64_t DividingPower(int64_t extent, int64_t most) {
  int64_t power = 1;
  while (power * 2 <= most && extent % (power * 2) == 0) power *= 2;
  return power;
}

int64_t LanesOf(const Compute& compute, const Statement& statement, VarId along) {
  return std::min(kMostLanes, kVectorBytes / NarrowestBytes(compute, statement, along));
}

int64_t Product(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

std::vector<int64_t> PowersUpTo(int64_t most) {
  std::vector<int64_t> powers;
  for (int64_t power = 1; power <= most; power *= 2) powers.push_back(power);
  return powers;
}

// --- in storage order ---

// Returns true if the last block is partial and needs separate code (`isolate`). A split into
// threads alone needs none.
bool IsPartial(int64_t extent, const std::vector<int64_t>& factors) {
  return factors.size() > 1 && extent % Product(factors) != 0;
}

void WriteInOrder(const ElementsPlan& plan, const ElementsChoice& choice, Schedule& schedule) {
  const std::string& statement = plan.walk.statement;
  const std::string prefix = statement + ".";
  ReorderStep order;
  for (const std::string& iterator : plan.walk.order) order.loops.push_back(prefix + iterator);
  std::vector<std::string> loops = order.loops;
  if (loops.size() > 1) schedule.Add(std::move(order));
  int64_t extent = Product(plan.walk.extents);
  std::vector<int64_t> factors;
  if (choice.pieces > 1) factors.push_back(choice.pieces);
  factors.push_back(choice.threads);
  std::string lane;
  const bool vectors = choice.lanes > 1;
  if (vectors && !plan.walk.uniform) {
    lane = loops.back() + ".1";
    schedule.Add(SplitStep{loops.back(), {choice.lanes}});
    loops.back() += ".0";
    extent /= choice.lanes;
  }
  const std::string all = FuseAll(*plan.compute, statement, "flat", loops, schedule);
  const std::string thread = all + (choice.pieces > 1 ? ".2" : ".1");
  if (vectors && plan.walk.uniform) {
    factors.push_back(choice.lanes);
    lane = all + (choice.pieces > 1 ? ".3" : ".2");
  }
  schedule.Add(SplitStep{all, factors});
  if (IsPartial(extent, factors)) schedule.Add(IsolateStep{all + ".0"});
  if (choice.pieces > 1) {
    schedule.Add(ReorderStep{{thread, all + ".1"}});
    schedule.Add(UnrollStep{all + ".1"});
  }
  if (vectors) schedule.Add(VectorizeStep{lane});
  schedule.Add(BindStep{all + ".0", LoopKind::kGridX});
  schedule.Add(BindStep{thread, LoopKind::kBlockX});
}

// --- in squares ---

void WriteSquares(const ElementsPlan& plan, const ElementsChoice& choice, Schedule& schedule) {
  const std::string& statement = plan.walk.statement;
  const auto loop = [&](const std::string& iterator) { return statement + "." + iterator; };
  const std::string row = loop(*plan.walk.across);
  const std::string lane = loop(plan.walk.order.back());
  const bool vectors = choice.lanes > 1;
  const auto split = [&](const std::string& whole, int64_t threads) {
    SplitStep step{whole, {threads}};
    if (vectors) step.factors.push_back(choice.lanes);
    schedule.Add(std::move(step));
  };
  split(row, choice.rows);
  split(lane, choice.threads / choice.rows);
  ReorderStep order;
  for (const std::string& iterator : plan.walk.order) {
    const bool is_row = iterator == *plan.walk.across;
    if (iterator != plan.walk.order.back())
      order.loops.push_back(loop(iterator) + (is_row ? ".0" : ""));
  }
  order.loops.push_back(lane + ".0");
  const std::vector<std::string> blocks = order.loops;
  order.loops.insert(order.loops.end(), {row + ".1", lane + ".1"});
  if (vectors) order.loops.insert(order.loops.end(), {row + ".2", lane + ".2"});
  schedule.Add(std::move(order));
  const std::string threads =
      FuseAll(*plan.compute, statement, "threads", {row + ".1", lane + ".1"}, schedule);
  BindGrid(*plan.compute, statement, blocks, schedule);
  schedule.Add(BindStep{threads, LoopKind::kBlockX});
  if (!vectors) return;
  schedule.Add(UnrollStep{row + ".2"});
  schedule.Add(VectorizeStep{lane + ".2"});
}

// Returns the number of threads along a dimension with `squares` squares. If possible, the number
// divides `squares`, so that all threads have work. It is then the greatest divisor from 4 to 16,
// else the least from 17 to 32. Without such a divisor it is 16, or `squares` if there are fewer.
int64_t ThreadsAlong(int64_t squares) {
  constexpr int64_t kWanted = 16;
  constexpr int64_t kLeast = 4;
  constexpr int64_t kMost = 32;
  for (int64_t threads = std::min(kWanted, squares); threads >= kLeast; --threads)
    if (squares % threads == 0) return threads;
  for (int64_t threads = kWanted + 1; threads <= std::min(kMost, squares); ++threads)
    if (squares % threads == 0) return threads;
  return std::min(kWanted, squares);
}

DevicePhase SquaresPhase(const ElementsPlan& plan) {
  const int64_t length = plan.walk.extents.back();
  const int64_t rows = ThreadsAlong(plan.across_extent / plan.square);
  const int64_t columns = ThreadsAlong(length / plan.square);
  Knobs<ElementsChoice> knobs;
  knobs.Add(KnobAt("rows", {4, 8, 16, 32}, rows), &ElementsChoice::rows);
  knobs.Add(KnobAt("columns", {4, 8, 16, 32}, columns),
            [](ElementsChoice& choice, int64_t value) { choice.threads = choice.rows * value; });
  knobs.Add(KnobAt("lanes", PowersUpTo(plan.square), plan.square), &ElementsChoice::lanes);
  return {"cuda_elements", knobs.list(),
          [plan, knobs](const std::vector<int64_t>& values, Schedule& schedule) {
            WriteSquares(plan, knobs.Choose(values), schedule);
          }};
}

// Returns the initial choice. First reduces the pieces until there are four blocks for each
// processor. Then reduces threads and lanes until there is one block for each processor.
ElementsChoice CoverDevice(const ElementsPlan& plan, const Statement& statement, int64_t lanes,
                           const Accelerator& device) {
  const int64_t elements = Product(plan.walk.extents);
  const auto streams = static_cast<int64_t>(
      std::ranges::count_if(statement.reads, [](const Read& read) { return !read.index.empty(); }));
  ElementsChoice choice{.lanes = lanes};
  choice.pieces = std::clamp<int64_t>(kMostPieces / std::max<int64_t>(streams, 1), 1, kMostPieces);
  const auto blocks = [&] {
    return CeilDivide(elements, choice.pieces * choice.threads * choice.lanes);
  };
  constexpr int64_t kLeastThreads = 64;
  while (choice.pieces > 1 && blocks() < 4 * device.processors) choice.pieces /= 2;
  while (choice.threads > kLeastThreads && blocks() < device.processors) choice.threads /= 2;
  while (choice.lanes > 1 && blocks() < device.processors) choice.lanes /= 2;
  return choice;
}

DevicePhase InOrderPhase(const ElementsPlan& plan, const Statement& statement, int64_t lanes,
                         const Accelerator& device) {
  const ElementsChoice initial = CoverDevice(plan, statement, lanes, device);
  Knobs<ElementsChoice> knobs;
  knobs.Add(KnobAt("threads", {64, 128, 256, 512}, initial.threads), &ElementsChoice::threads);
  knobs.Add(KnobAt("lanes", PowersUpTo(lanes), initial.lanes), &ElementsChoice::lanes);
  knobs.Add(KnobAt("pieces", {1, 2, 4, 8}, initial.pieces), &ElementsChoice::pieces);
  return {"cuda_elements", knobs.list(),
          [plan, knobs](const std::vector<int64_t>& values, Schedule& schedule) {
            WriteInOrder(plan, knobs.Choose(values), schedule);
          }};
}

std::optional<DevicePhase> ElementsPhase(const PhaseQuestion& question) {
  const Compute& compute = question.compute;
  const Statement& statement = compute.statements.front();
  if (compute.statements.size() > 1) return std::nullopt;
  std::optional<PointwisePlan> walk = MakePointwisePlan(compute, statement, /*block=*/2);
  if (!walk || walk->is_scatter) return std::nullopt;
  ElementsPlan plan{.compute = std::make_shared<const Compute>(compute), .walk = *std::move(walk)};
  const auto iterator_of = [&](const std::string& name) {
    const auto found = std::ranges::find(statement.iterators, name, &Iterator::name);
    return statement.iterators.id_of(found);
  };
  const VarId last = iterator_of(plan.walk.order.back());
  const int64_t most = LanesOf(compute, statement, last);
  if (plan.walk.across) {
    plan.across_extent = statement.iterators[iterator_of(*plan.walk.across)].extent;
    plan.square = DividingPower(plan.across_extent, DividingPower(plan.walk.extents.back(), most));
    return SquaresPhase(plan);
  }
  const bool conditions = UsesIterator(statement.domain, last);
  const bool alone = conditions && !plan.walk.uniform;
  const int64_t lanes =
      plan.walk.uniform ? most : DividingPower(alone ? 1 : plan.walk.extents.back(), most);
  return InOrderPhase(plan, statement, lanes, question.device);
}

// --- sums ---

// The plan of a reduction with one result for each lane of a vector.
struct SumPlan {
  std::shared_ptr<const Compute> compute;
  std::optional<CacheWriteStep> own_sums;
  std::string statement;
  std::vector<std::string> order;    // output iterators, outermost first
  std::vector<std::string> reduced;  // reduced iterators
  std::vector<std::string> moved;    // statements that move into the loops over results
  std::vector<std::string> registers;
};

void WriteSums(const SumPlan& plan, const ElementsChoice& choice, Schedule& schedule) {
  const auto loop = [&](const std::string& iterator) { return plan.statement + "." + iterator; };
  if (plan.own_sums) schedule.Add(*plan.own_sums);
  const std::string last = loop(plan.order.back());
  schedule.Add(SplitStep{last, {choice.lanes}});
  std::vector<std::string> outer;
  for (size_t i = 0; i + 1 < plan.order.size(); ++i) outer.push_back(loop(plan.order[i]));
  outer.push_back(last + ".0");
  ReorderStep order{outer};
  for (const std::string& iterator : plan.reduced) order.loops.push_back(loop(iterator));
  order.loops.push_back(last + ".1");
  schedule.Add(std::move(order));
  for (const std::string& moved : plan.moved) schedule.Add(ComputeAtStep{moved, outer.back()});
  const std::string all = FuseAll(*plan.compute, plan.statement, "flat", outer, schedule);
  schedule.Add(SplitStep{all, {choice.threads}});
  for (const std::string& tensor : plan.registers)
    schedule.Add(StageStep{.tensor = tensor, .scope = Scope::kRegister, .loop = all + ".1"});
  schedule.Add(BindStep{all + ".0", LoopKind::kGridX});
  schedule.Add(BindStep{all + ".1", LoopKind::kBlockX});
  const std::string lane = "." + plan.order.back() + ".1";
  schedule.Add(VectorizeStep{plan.statement + lane});
  for (const std::string& moved : plan.moved) schedule.Add(VectorizeStep{moved + lane});
}

// Returns true if the iterator has no conditions, and some read uses it. Each such read must have
// no guard and be contiguous along the iterator.
bool WalksSideBySide(const Compute& compute, const Statement& statement, VarId iterator) {
  if (UsesIterator(statement.domain, iterator)) return false;
  bool walks = false;
  const bool alike = std::ranges::all_of(statement.reads, [&](const Read& read) {
    if (!UsesIterator(read.index, iterator)) return true;
    walks = true;
    return !read.guard && StorageStride(compute, statement, read.tensor, read.index, iterator) == 1;
  });
  return walks && alike;
}

std::optional<SumPlan> PlanSums(const Compute& compute) {
  const Statement& sum = compute.statements.front();
  std::optional<OwnSums> own = MakeOwnSums(compute);
  if (sum.writes.size() != 1 || !own) return std::nullopt;
  SumPlan plan{.compute = own->compute,
               .own_sums = own->cache_write,
               .statement = sum.name,
               .moved = {sum.name + ".init"},
               .registers = std::move(own->registers)};
  for (const VarId v : InStorageOrder(compute, sum, sum.writes[0], WrittenIterators(sum)))
    plan.order.push_back(sum.iterators[v].name);
  for (const VarId v : ReducedIterators(sum)) plan.reduced.push_back(sum.iterators[v].name);
  plan.moved.insert(plan.moved.end(), own->followers.begin(), own->followers.end());
  return plan;
}

std::optional<DevicePhase> SumsPhase(const PhaseQuestion& question) {
  const Compute& compute = question.compute;
  const Statement& sum = compute.statements.front();
  std::optional<SumPlan> plan = PlanSums(compute);
  if (!plan || plan->order.empty()) return std::nullopt;
  const std::vector<VarId> order =
      InStorageOrder(compute, sum, sum.writes[0], WrittenIterators(sum));
  const VarId last = order.back();
  if (!WalksSideBySide(compute, sum, last)) return std::nullopt;
  const int64_t most = DividingPower(sum.iterators[last].extent, LanesOf(compute, sum, last));
  int64_t outputs = 1;
  for (const VarId v : order) outputs *= sum.iterators[v].extent;
  ElementsChoice initial{.threads = 128, .lanes = most};
  const auto blocks = [&] { return outputs / (initial.lanes * initial.threads); };
  while (initial.lanes > 1 && blocks() < 2 * question.device.processors) initial.lanes /= 2;
  if (initial.lanes == 1) return std::nullopt;  // MakeBlockPhase fits such reductions too
  Knobs<ElementsChoice> knobs;
  knobs.Add(KnobAt("threads", {32, 64, 128, 256, 512}, initial.threads), &ElementsChoice::threads);
  std::vector<int64_t> lanes = PowersUpTo(most);
  lanes.erase(lanes.begin());
  knobs.Add(KnobAt("lanes", std::move(lanes), initial.lanes), &ElementsChoice::lanes);
  return DevicePhase{
      "cuda_elements", knobs.list(),
      [plan = *std::move(plan), knobs](const std::vector<int64_t>& values, Schedule& schedule) {
        WriteSums(plan, knobs.Choose(values), schedule);
      }};
}

}  // namespace

std::optional<DevicePhase> MakeCudaElementsPhase(const PhaseQuestion& question) {
  return question.compute.statements.front().reducer ? SumsPhase(question)
                                                     : ElementsPhase(question);
}

}  // namespace tunec
