#include "schedule/sketches/cuda_tile_plan.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "ir/loop_nest.h"
#include "schedule/access_analysis.h"
#include "schedule/relations.h"
#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/own_sums.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

constexpr int64_t kFewColumns = 128;      // shorter rows and columns may get an outer iterator
constexpr int64_t kMostInside = 64;       // largest number of iterations of the `inside` reductions
constexpr int64_t kWorthATile = 1 << 10;  // least product of the sum's extents

bool Contains(const std::vector<VarId>& list, VarId iterator) {
  return std::ranges::find(list, iterator) != list.end();
}

bool HasConditions(const Statement& statement, VarId iterator) {
  const auto guards = [&](const Read& read) {
    return read.guard && UsesIterator(read.guard->nonnegative, iterator);
  };
  return UsesIterator(statement.domain, iterator) || std::ranges::any_of(statement.reads, guards);
}

// Returns the positions of the reads whose index uses the iterator.
std::set<size_t> KnownBy(const Statement& statement, VarId iterator) {
  std::set<size_t> reads;
  for (size_t r = 0; r < statement.reads.size(); ++r)
    if (UsesIterator(statement.reads[r].index, iterator)) reads.insert(r);
  return reads;
}

bool Overlap(const std::set<size_t>& a, const std::set<size_t>& b) {
  return std::ranges::any_of(a, [&](size_t r) { return b.contains(r); });
}

// One dimension of a rectangular slice. Its index is `along`, or `start * extent + along` with the
// extent of `along`. `start` is an iterator of the grid.
struct BoxSide {
  VarId along;
  std::optional<VarId> start = {};
};

std::optional<BoxSide> SideOf(const CudaTilePlan& plan, const IndexExpr& index) {
  if (const std::optional<VarId> alone = index.AsVar()) return BoxSide{*alone};
  for (const VarId start : plan.grid) {
    const int64_t length = index.Coefficient(start);
    const std::optional<VarId> along = (index - IndexExpr::Var(start) * length).AsVar();
    if (along && length == plan.Extent(*along)) return BoxSide{*along, start};
  }
  return std::nullopt;
}

// Returns true if the index has only terms with nonnegative coefficients, over output iterators and
// `inside` reductions.
bool IsWindow(const CudaTilePlan& plan, const IndexExpr& index) {
  return std::ranges::all_of(index.terms(), [&](const IndexTerm& term) {
    if (term.atom.kind != IndexAtom::Kind::kVariable || term.coefficient < 0) return false;
    const VarId v = term.atom.variable();
    return Contains(plan.outputs, v) || Contains(plan.inside, v);
  });
}

// Returns true if the iterators are all reductions, and none is the piecewise one.
bool IsPlane(const CudaTilePlan& plan, const std::vector<VarId>& used) {
  return std::ranges::all_of(
      used, [&](VarId v) { return v != plan.piecewise && !Contains(plan.outputs, v); });
}

std::vector<VarId> VarsOf(const IndexExpr& index) {
  std::vector<VarId> used;
  index.CollectVars(used);
  std::ranges::sort(used);
  const auto again = std::ranges::unique(used);
  used.erase(again.begin(), again.end());
  return used;
}

// Sets `shared`, `planes`, `windows` and `starts` of the operand. Leaves them unchanged if a tile's
// part of the operand cannot be copied.
void SetBox(const CudaTilePlan& plan, const Read& read, CudaTileOperand& operand) {
  std::set<VarId> seen;
  std::vector<VarId> starts;
  std::vector<size_t> windows;
  std::vector<size_t> planes;
  for (size_t d = 0; d < read.index.size(); ++d) {
    if (plan.compute->tensors[read.tensor].shape[d] == 1) continue;
    const std::vector<VarId> used = VarsOf(read.index[d]);
    for (const VarId v : used)
      if (!seen.insert(v).second) return;
    const std::optional<BoxSide> side = SideOf(plan, read.index[d]);
    if (!side && !IsWindow(plan, read.index[d])) {
      if (!IsPlane(plan, used)) return;
      planes.push_back(d);
      continue;
    }
    if (side && side->start) starts.push_back(*side->start);
    if (side) continue;
    windows.push_back(d);
    std::ranges::copy_if(used, std::back_inserter(starts),
                         [&](VarId v) { return Contains(plan.outputs, v); });
  }
  // The step `copy` would replace all reads of the tensor, not only this one.
  const auto same = [&](const Read& other) { return other.tensor == read.tensor; };
  if (read.guard || seen.empty() || std::ranges::count_if(plan.sum.reads, same) > 1) return;
  operand.shared = planes.empty();
  operand.planes = std::move(planes);
  operand.windows = std::move(windows);
  operand.starts = std::move(starts);
}

bool IsPlainSum(const Statement& sum) {
  if (!sum.reducer || !sum.reducer->reorderable || sum.writes.size() != 1) return false;
  if (!sum.reducer->finalise.empty() || sum.reads.size() < 2) return false;
  return std::ranges::all_of(sum.writes[0].index, [](const IndexExpr& index) {
    return index.AsVar() || index.IsConstant();
  });
}

// Returns the sum's iterator that is contiguous in the tensor that the final statement writes.
// Returns nothing if there is none.
std::optional<VarId> ContiguousOutput(const CudaTilePlan& plan) {
  const Compute& compute = *plan.compute;
  const Statement& final = compute.statements[FinalStatement(compute)];
  const auto contiguous =
      ContiguousIterator(compute, final, final.writes[0].tensor, final.writes[0].index);
  if (!contiguous) return std::nullopt;
  if (final.name == plan.sum.name) return contiguous;
  return WrittenBy(plan.sum, final, *contiguous);
}

CudaTileAxis AxisOf(const CudaTilePlan& plan, VarId iterator) {
  return {iterator, plan.Extent(iterator), !HasConditions(plan.sum, iterator)};
}

// Returns the iterator with the largest extent; of equal extents, one without conditions. Returns
// nothing for an empty list.
std::optional<VarId> Longest(const CudaTilePlan& plan, const std::vector<VarId>& iterators) {
  std::optional<VarId> longest;
  const auto rank = [&](VarId v) { return std::pair(plan.Extent(v), !HasConditions(plan.sum, v)); };
  for (const VarId v : iterators)
    if (!longest || rank(v) > rank(*longest)) longest = v;
  return longest;
}

bool AssignOutputs(CudaTilePlan& plan) {
  plan.outputs = WrittenIterators(plan.sum);
  const std::optional<VarId> column = ContiguousOutput(plan);
  if (!column || !Contains(plan.outputs, *column)) return false;
  const std::set<size_t> of_column = KnownBy(plan.sum, *column);
  std::vector<VarId> rows;
  std::vector<VarId> columns;
  for (const VarId v : plan.outputs) {
    if (v == *column || plan.Extent(v) == 1) continue;
    const std::set<size_t> known = KnownBy(plan.sum, v);
    if (!known.empty() && !Overlap(known, of_column)) rows.push_back(v);
    if (known == of_column) columns.push_back(v);
  }
  const std::optional<VarId> row = Longest(plan, rows);
  if (!row || of_column.empty()) return false;
  plan.column = AxisOf(plan, *column);
  plan.row = AxisOf(plan, *row);
  std::erase(rows, *row);
  if (plan.column.extent < kFewColumns)
    if (const auto outer = Longest(plan, columns)) plan.outer_column = AxisOf(plan, *outer);
  if (plan.row.extent < kFewColumns)
    if (const auto outer = Longest(plan, rows)) plan.outer_row = AxisOf(plan, *outer);
  for (const VarId v : plan.outputs) {
    const bool tiled = v == *column || v == *row ||
                       (plan.outer_column && plan.outer_column->iterator == v) ||
                       (plan.outer_row && plan.outer_row->iterator == v);
    if (!tiled) plan.grid.push_back(v);
  }
  return true;
}

bool AssignReductions(CudaTilePlan& plan) {
  const std::vector<VarId> reduced = ReducedIterators(plan.sum);
  std::vector<VarId> free;
  for (const VarId v : reduced)
    if (!HasConditions(plan.sum, v)) free.push_back(v);
  const std::optional<VarId> piecewise = Longest(plan, free);
  if (!piecewise) return false;
  for (const VarId v : reduced) plan.reductions *= static_cast<double>(plan.Extent(v));
  plan.piecewise = *piecewise;
  int64_t inside = 1;
  for (size_t i = reduced.size(); i-- > 0;) {
    if (reduced[i] == *piecewise) continue;
    const bool fits = inside * plan.Extent(reduced[i]) <= kMostInside;
    if (fits) inside *= plan.Extent(reduced[i]);
    std::vector<VarId>& list = fits ? plan.inside : plan.outside;
    list.insert(list.begin(), reduced[i]);
  }
  return true;
}

void AssignOperands(CudaTilePlan& plan) {
  for (const Read& read : plan.sum.reads) {
    const Tensor& tensor = plan.compute->tensors[read.tensor];
    CudaTileOperand operand{.tensor = tensor.name,
                            .index = read.index,
                            .bytes = static_cast<int64_t>(SizeOf(tensor.type))};
    SetBox(plan, read, operand);
    for (const VarId v : plan.sum.iterators.ids())
      if (UsesIterator(read.index, v)) operand.iterators.push_back(v);
    operand.depends_on_column = UsesIterator(read.index, plan.column.iterator);
    operand.depends_on_row = UsesIterator(read.index, plan.row.iterator);
    operand.has_neighbours =
        StorageStride(*plan.compute, plan.sum, read.tensor, read.index, plan.column.iterator) == 1;
    plan.operands.push_back(std::move(operand));
  }
}

// Returns the number of iterations of the reductions in one K-block.
int64_t PieceIterations(const CudaTilePlan& plan, const CudaTileChoice& choice) {
  int64_t iterations = PieceLength(plan, choice);
  for (const VarId v : plan.inside) iterations *= plan.Extent(v);
  return iterations;
}

// Returns the number of iterations of an iterator in one K-block of one tile.
int64_t PieceExtent(const CudaTilePlan& plan, const CudaTileChoice& choice, VarId iterator) {
  if (iterator == plan.piecewise) return PieceLength(plan, choice);
  if (Contains(plan.inside, iterator)) return plan.Extent(iterator);
  return TileExtent(plan, choice, iterator);
}

// Returns the number of iterations of all reductions for each output element, including the padding
// of the last K-block.
double Reductions(const CudaTilePlan& plan, const CudaTileChoice& choice) {
  if (!plan.pads_pieces) return plan.reductions;
  const int64_t length = PieceLength(plan, choice);
  const int64_t extent = plan.Extent(plan.piecewise);
  return plan.reductions * static_cast<double>(CeilDivide(extent, length) * length) /
         static_cast<double>(extent);
}

// Returns the number of elements of the operand that one K-block of one tile reads.
int64_t PieceElements(const CudaTilePlan& plan, const CudaTileChoice& choice,
                      const CudaTileOperand& operand) {
  int64_t elements = 1;
  for (const IndexExpr& index : operand.index) elements *= SideLength(plan, choice, index);
  return elements;
}

int64_t SharedBytes(const CudaTilePlan& plan, const CudaTileChoice& choice) {
  constexpr int64_t kAlignment = 64;
  int64_t bytes = 0;
  for (const CudaTileOperand& operand : plan.operands) {
    if (!IsShared(plan, choice, operand)) continue;
    bytes +=
        CeilDivide(PieceElements(plan, choice, operand) * operand.bytes * StagesOf(plan, choice),
                   kAlignment) *
        kAlignment;
  }
  return bytes;
}

// Returns the number of elements of the operand that a thread loads in one iteration of the
// reductions.
double ThreadElements(const CudaTileChoice& choice, const CudaTileOperand& operand) {
  double elements = 1;
  if (operand.depends_on_column) elements *= static_cast<double>(choice.column_elements);
  if (operand.depends_on_row) elements *= static_cast<double>(choice.row_elements);
  return elements;
}

// Returns the bytes that one block reads from L2 for an operand that is not shared. Each warp reads
// separately, in whole sectors. Only contiguous elements share a sector.
double DirectBytes(const CudaTilePlan& plan, const CudaTileChoice& choice,
                   const CudaTileOperand& operand) {
  constexpr double kSector = 32;
  const auto bytes = static_cast<double>(operand.bytes);
  const auto warps = static_cast<double>(CeilDivide(choice.Threads(), kWarpThreads));
  const auto in_warp = static_cast<double>(std::min(choice.Threads(), kWarpThreads));
  double of_warp = 0;  // bytes in one iteration, for one element of each thread
  if (!operand.depends_on_column) {
    of_warp = kSector * std::max(1.0, in_warp / static_cast<double>(choice.column_threads));
  } else {
    of_warp = operand.has_neighbours ? std::max(kSector, in_warp * bytes) : kSector * in_warp;
  }
  return warps * of_warp * ThreadElements(choice, operand) * Reductions(plan, choice);
}

// Returns the clocks that a processor needs for all iterations of one block's reductions. Loads and
// multiply-adds mostly overlap.
double IssueClocks(const CudaTilePlan& plan, const CudaTileChoice& choice,
                   const Accelerator& device) {
  const auto warps = static_cast<double>(CeilDivide(choice.Threads(), kWarpThreads));
  const auto products =
      static_cast<double>(choice.row_elements) * static_cast<double>(choice.column_elements);
  const double warps_a_clock = static_cast<double>(device.multiply_adds) / kWarpThreads;
  double loads = 0;  // clocks of the load unit, for one iteration of a warp
  for (const CudaTileOperand& operand : plan.operands) {
    // Per clock, the unit loads 32 elements of different columns, or 4 elements that all threads of
    // a row share.
    const double elements = ThreadElements(choice, operand);
    loads += operand.depends_on_column
                 ? elements * static_cast<double>(choice.column_threads) / kWarpThreads
                 : elements / 4;
    if (!IsShared(plan, choice, operand)) loads += elements;
  }
  const double multiply = products / warps_a_clock;
  constexpr double kBeside = 0.2;  // fraction of the shorter time that does not overlap
  return Reductions(plan, choice) * warps *
         (std::max(multiply, loads) + kBeside * std::min(multiply, loads));
}

BlockUse UseOf(const CudaTilePlan& plan, const CudaTileChoice& choice) {
  // A thread has registers for its sums, for the operands of one iteration, and for addresses.
  constexpr int64_t kOthers = 36;
  const int64_t sums = choice.row_elements * choice.column_elements;
  return {.threads = choice.Threads(),
          .registers = sums + choice.row_elements + choice.column_elements + kOthers,
          .shared_bytes = SharedBytes(plan, choice)};
}

// Returns true if each thread may have this number of elements of the axis. Without padding, a
// number above 1 must divide the extent of an axis without conditions. A thread then has all or
// none of its elements.
bool MayHave(const CudaTilePlan& plan, const CudaTileAxis& axis, int64_t elements) {
  if (plan.padded) return elements <= axis.extent;
  return elements == 1 || (axis.free && axis.extent % elements == 0);
}

std::vector<int64_t> ElementChoices(const CudaTilePlan& plan, const CudaTileAxis& axis,
                                    std::initializer_list<int64_t> wanted) {
  std::vector<int64_t> choices = {1};
  std::ranges::copy_if(wanted, std::back_inserter(choices),
                       [&](int64_t elements) { return MayHave(plan, axis, elements); });
  return choices;
}

// Returns numbers of threads along an axis if each thread has `elements` elements. Without padding,
// tiles of threads with several elements divide the extent. Otherwise each element would have a
// separate condition, in full tiles too.
std::vector<int64_t> ThreadChoices(const CudaTilePlan& plan, int64_t extent, int64_t elements,
                                   int64_t most) {
  const int64_t parts = CeilDivide(extent, elements);
  std::vector<int64_t> choices;
  for (int64_t threads = 1; threads <= std::min(parts, most); ++threads) {
    const bool power = (threads & (threads - 1)) == 0;
    const bool may_end_early = elements == 1 || plan.padded;
    if (parts % threads == 0 || (power && may_end_early)) choices.push_back(threads);
  }
  return choices;
}

// Returns numbers of threads along an outer iterator: only 1 unless a tile contains the inner
// iterator completely.
std::vector<int64_t> OuterChoices(const CudaTilePlan& plan,
                                  const std::optional<CudaTileAxis>& outer,
                                  const CudaTileAxis& inner, int64_t tile) {
  constexpr int64_t kMost = 16;
  if (!outer || tile < inner.extent) return {1};
  return ThreadChoices(plan, outer->extent, 1, kMost);
}

// --- padding ---

// Returns the output iterators of which a tile may have several iterations.
std::vector<VarId> TiledOutputs(const CudaTilePlan& plan) {
  std::vector<VarId> tiled = {plan.row.iterator, plan.column.iterator};
  if (plan.outer_row) tiled.push_back(plan.outer_row->iterator);
  if (plan.outer_column) tiled.push_back(plan.outer_column->iterator);
  return tiled;
}

// Returns true if the step `pad` can extend the iterators. The step also removes the sum's
// conditions.
bool MayPad(const CudaTilePlan& plan, const std::vector<VarId>& iterators, ReductionOrder order) {
  PadStep beyond{plan.sum.name, {}};
  for (const VarId v : iterators) beyond.multiples.push_back({plan.Name(v), plan.Extent(v) + 1});
  return Apply(*plan.compute, beyond, order).has_value();
}

bool Plan(const Compute& compute, CudaTilePlan& plan) {
  const Statement& sum = compute.statements.front();
  if (!IsPlainSum(sum) || ProductOfExtents(sum) < static_cast<double>(kWorthATile)) return false;
  std::optional<OwnSums> own = MakeOwnSums(compute);
  if (!own) return false;
  plan.compute = own->compute;
  plan.cache_write = own->cache_write;
  plan.sum = own->sum();
  plan.followers = std::move(own->followers);
  plan.registers = std::move(own->registers);
  // A reduction without conditions is preferred for the K-blocks, even if padding removes all
  // conditions of the domain.
  bool has_pieces = AssignReductions(plan);
  if (plan.padded) {
    plan.sum.domain.clear();
    has_pieces = has_pieces || AssignReductions(plan);
  }
  if (!has_pieces || !AssignOutputs(plan)) return false;
  AssignOperands(plan);
  return true;
}

}  // namespace

std::optional<CudaTilePlan> MakeCudaTilePlan(const Compute& compute) {
  CudaTilePlan plan;
  return Plan(compute, plan) ? std::optional(std::move(plan)) : std::nullopt;
}

std::optional<CudaTilePlan> MakePaddedCudaTilePlan(const Compute& compute, ReductionOrder order) {
  CudaTilePlan plan{.padded = true};
  if (!Plan(compute, plan)) return std::nullopt;
  if (!std::ranges::all_of(plan.operands, &CudaTileOperand::shared)) return std::nullopt;
  std::vector<VarId> iterators = TiledOutputs(plan);
  if (!MayPad(plan, iterators, order)) return std::nullopt;
  iterators.push_back(plan.piecewise);
  plan.pads_pieces = MayPad(plan, iterators, order);
  return plan;
}

int64_t TileExtent(const CudaTilePlan& plan, const CudaTileChoice& choice, VarId iterator) {
  int64_t tile = 1;
  if (iterator == plan.column.iterator) tile = choice.Columns();
  if (iterator == plan.row.iterator) tile = choice.Rows();
  if (plan.outer_column && iterator == plan.outer_column->iterator) tile = choice.outer_columns;
  if (plan.outer_row && iterator == plan.outer_row->iterator) tile = choice.outer_rows;
  return plan.padded ? tile : std::min(tile, plan.Extent(iterator));
}

int64_t PieceLength(const CudaTilePlan& plan, const CudaTileChoice& choice) {
  return plan.pads_pieces ? choice.piece : std::min(choice.piece, plan.Extent(plan.piecewise));
}

std::optional<PadStep> PaddingOf(const CudaTilePlan& plan, const CudaTileChoice& choice) {
  if (!plan.padded) return std::nullopt;
  PadStep pad{plan.sum.name, {}};
  const auto fill = [&](VarId iterator, int64_t tile) {
    if (plan.Extent(iterator) % tile != 0) pad.multiples.push_back({plan.Name(iterator), tile});
  };
  for (const VarId v : TiledOutputs(plan)) fill(v, TileExtent(plan, choice, v));
  if (plan.pads_pieces) fill(plan.piecewise, PieceLength(plan, choice));
  const bool has_conditions = !plan.compute->statements.front().domain.empty();
  return pad.multiples.empty() && !has_conditions ? std::nullopt : std::optional(std::move(pad));
}

int64_t BlocksOf(const CudaTilePlan& plan, const CudaTileChoice& choice) {
  int64_t blocks = 1;
  for (const VarId v : plan.outputs)
    blocks *= CeilDivide(plan.Extent(v), TileExtent(plan, choice, v));
  return blocks;
}

int64_t SideLength(const CudaTilePlan& plan, const CudaTileChoice& choice, const IndexExpr& index) {
  int64_t length = 1;
  for (const IndexTerm& term : index.terms())
    length += term.coefficient * (PieceExtent(plan, choice, term.atom.variable()) - 1);
  return length;
}

IndexExpr PlaceInTile(const CudaTilePlan& plan, const CudaTileChoice& choice,
                      const IndexExpr& index) {
  IndexExpr place = index;
  for (const VarId v : plan.outputs)
    if (TileExtent(plan, choice, v) == 1) place -= IndexExpr::Var(v) * index.Coefficient(v);
  return place - place.constant();
}

bool IsShared(const CudaTilePlan& plan, const CudaTileChoice& choice,
              const CudaTileOperand& operand) {
  if (!operand.shared || operand.windows.empty()) return operand.shared;
  // The position in a window must be constant, be a single iterator, or use an output iterator of
  // which the tile has several iterations.
  const auto has_places = [&](size_t d) {
    const IndexExpr place = PlaceInTile(plan, choice, operand.index[d]);
    const auto uses = [&](VarId v) { return place.Uses(v); };
    return place.IsConstant() || place.AsVar() || std::ranges::any_of(plan.outputs, uses);
  };
  return choice.windows && std::ranges::all_of(operand.windows, has_places);
}

int64_t StagesOf(const CudaTilePlan& plan, const CudaTileChoice& choice) {
  const bool copies =
      std::ranges::any_of(plan.operands, [&](const auto& o) { return IsShared(plan, choice, o); });
  return copies && plan.Extent(plan.piecewise) > choice.piece ? choice.stages : 1;
}

CudaTileChoice Fitted(const CudaTilePlan& plan, CudaTileChoice choice, const Accelerator& device) {
  constexpr int64_t kMostThreads = 1024;
  constexpr int64_t kMostSums = 128;  // largest number per thread; leaves registers for operands
  const auto halve = [](int64_t& number) { number = std::max<int64_t>(number / 2, 1); };
  const auto below = [&](const CudaTileAxis& axis, int64_t& elements, int64_t& threads) {
    while (elements > 1 && !MayHave(plan, axis, elements)) --elements;
    threads = std::min(threads, CeilDivide(axis.extent, elements));
  };
  below(plan.column, choice.column_elements, choice.column_threads);
  below(plan.row, choice.row_elements, choice.row_threads);
  choice.outer_columns =
      plan.outer_column ? std::min(choice.outer_columns, plan.outer_column->extent) : 1;
  choice.outer_rows = plan.outer_row ? std::min(choice.outer_rows, plan.outer_row->extent) : 1;
  // A padded K-block is shorter than twice the extent of the reduction. Other K-blocks are at most
  // as long as the extent.
  const int64_t length = plan.Extent(plan.piecewise);
  while (choice.piece > length && (!plan.pads_pieces || choice.piece / 2 >= length))
    choice.piece = plan.pads_pieces ? choice.piece / 2 : length;
  if (plan.padded) {
    const auto has_windows = [](const CudaTileOperand& o) { return !o.windows.empty(); };
    choice.windows = std::ranges::any_of(plan.operands, has_windows);
  }
  while (choice.row_elements * choice.column_elements > kMostSums) {
    --choice.row_elements;
    below(plan.row, choice.row_elements, choice.row_threads);
  }
  // The registers of all threads of a block must fit into one processor.
  const auto too_many = [&] {
    const BlockUse use = UseOf(plan, choice);
    return use.threads > kMostThreads || use.threads * use.registers > device.registers;
  };
  while (too_many() && choice.outer_rows > 1) halve(choice.outer_rows);
  while (too_many() && choice.outer_columns > 1) halve(choice.outer_columns);
  while (too_many()) halve(choice.row_threads > 1 ? choice.row_threads : choice.column_threads);
  while (SharedBytes(plan, choice) > device.shared_bytes && choice.piece > 1) halve(choice.piece);
  return choice;
}

double EstimateSeconds(const CudaTilePlan& plan, const CudaTileChoice& choice,
                       const Accelerator& device) {
  PhaseCost cost{.blocks = BlocksOf(plan, choice), .use = UseOf(plan, choice)};
  cost.clocks = IssueClocks(plan, choice, device);
  const double pieces =
      Reductions(plan, choice) / static_cast<double>(PieceIterations(plan, choice));
  for (const CudaTileOperand& operand : plan.operands) {
    cost.l2_bytes +=
        IsShared(plan, choice, operand)
            ? pieces * static_cast<double>(PieceElements(plan, choice, operand) * operand.bytes)
            : DirectBytes(plan, choice, operand);
  }
  constexpr double kPieceClocks = 40;  // a barrier and the start of a K-block
  cost.clocks += pieces * kPieceClocks;
  return EstimateSeconds(cost, device);
}

CudaTileChoice BestCudaTile(const CudaTilePlan& plan, const Accelerator& device) {
  constexpr int64_t kMostThreads = 512;
  constexpr int64_t kMostSums = 64;
  constexpr int64_t kMostShared = 48 << 10;
  CudaTileChoice best;
  double least = 0;
  const bool has_windows = std::ranges::any_of(
      plan.operands, [](const CudaTileOperand& operand) { return !operand.windows.empty(); });
  const auto consider_pieces = [&](CudaTileChoice choice) {
    const int64_t length = plan.Extent(plan.piecewise);
    for (const int64_t piece : {int64_t{16}, int64_t{8}, int64_t{4}, int64_t{1}}) {
      choice.piece = std::min(piece, length);
      const bool ends_well = length % choice.piece == 0 || piece <= 8;
      if (SharedBytes(plan, choice) <= kMostShared && ends_well) break;
    }
    const double seconds = EstimateSeconds(plan, choice, device);
    if (least != 0 && seconds >= least) return;
    least = seconds;
    best = choice;
  };
  const auto consider = [&](CudaTileChoice choice) {
    if (choice.Threads() > kMostThreads || choice.Threads() < kWarpThreads) return;
    if (choice.row_elements * choice.column_elements > kMostSums) return;
    if (!plan.padded) consider_pieces(choice);
    if (!plan.padded && !has_windows) return;
    choice.windows = has_windows;
    const auto is_shared = [&](const auto& operand) { return IsShared(plan, choice, operand); };
    // In a padded plan, the end of an operand that is not copied would be a condition for each
    // product.
    if (!plan.padded || std::ranges::all_of(plan.operands, is_shared)) consider_pieces(choice);
  };
  for (const int64_t columns : ElementChoices(plan, plan.column, {2, 4})) {
    for (const int64_t rows : ElementChoices(plan, plan.row, {2, 4, 7, 8, 16})) {
      for (const int64_t x : ThreadChoices(plan, plan.column.extent, columns, 64)) {
        for (const int64_t y : ThreadChoices(plan, plan.row.extent, rows, 32)) {
          for (const int64_t outer_x :
               OuterChoices(plan, plan.outer_column, plan.column, x * columns)) {
            for (const int64_t outer_y : OuterChoices(plan, plan.outer_row, plan.row, y * rows)) {
              consider({.column_threads = x,
                        .column_elements = columns,
                        .outer_columns = outer_x,
                        .row_threads = y,
                        .row_elements = rows,
                        .outer_rows = outer_y});
            }
          }
        }
      }
    }
  }
  return Fitted(plan, best, device);
}

}  // namespace tunec
