#include "schedule/sketches/cuda_stream_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/loop_nest.h"
#include "schedule/access_analysis.h"
#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/device_loops.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

// --- work of statements ---

std::optional<StreamWork> WorkOf(const StreamPlan& stream, StatementId s) {
  if (s == stream.first) return StreamWork::kFirst;
  if (s == stream.last) return StreamWork::kLast;
  const Statement& statement = stream.statement(s);
  const auto has = [&](int dimension) { return stream.IteratorOf(s, dimension).has_value(); };
  for (const VarId v : statement.iterators.ids()) {
    const int dimension = stream.shared.DimensionOf(s, v);
    const bool is_outer = std::ranges::find(stream.outer, dimension) != stream.outer.end();
    const bool known = is_outer || dimension == stream.chunk || dimension == stream.row ||
                       dimension == stream.column || dimension == stream.width ||
                       dimension == stream.depth;
    if (!known || stream.IteratorOf(s, dimension) != v) return std::nullopt;
  }
  if (!has(stream.row) || statement.writes.size() != 1) return std::nullopt;
  if (statement.reducer) {
    const bool of_columns = has(stream.column) && !has(stream.width) && !has(stream.depth);
    const bool whole = statement.reducer->reorderable && statement.reducer->finalise.empty();
    return of_columns && whole ? std::optional(StreamWork::kColumns) : std::nullopt;
  }
  if (has(stream.column) + has(stream.width) + has(stream.depth) > 1) return std::nullopt;
  if (has(stream.column)) return StreamWork::kCells;
  if (has(stream.width)) return StreamWork::kWidths;
  return has(stream.depth) ? StreamWork::kQueries : StreamWork::kRows;
}

// --- operands ---

// Returns the first read of a tensor that is not workspace, or null.
const Read* GivenOperand(const Compute& compute, const Statement& product) {
  for (const Read& read : product.reads)
    if (compute.tensors[read.tensor].role != TensorRole::kWorkspace) return &read;
  return nullptr;
}

// Returns the product's iterators over tasks and KV blocks for which the operand has separate
// copies. An iterator that is itself one index, and is in no other index, needs no copies.
std::vector<VarId> GroupsOf(const StreamPlan& stream, StatementId product, const Read& read) {
  std::vector<VarId> groups;
  const auto consider = [&](int dimension) {
    const std::optional<VarId> v = stream.IteratorOf(product, dimension);
    const auto alone = [&](const IndexExpr& index) { return index.AsVar() == v; };
    const auto uses = [&](const IndexExpr& index) { return index.Uses(*v); };
    if (!v) return;
    const bool is_dimension =
        std::ranges::any_of(read.index, alone) && std::ranges::count_if(read.index, uses) == 1;
    if (!is_dimension) groups.push_back(*v);
  };
  for (const int outer : stream.outer) consider(outer);
  if (stream.chunk) consider(*stream.chunk);
  return groups;
}

// Returns true if a K-block reads a rectangular slice along `column` and `inner`. Each of the two
// must be the index of one dimension of a group's copy.
bool IsBox(const Read& read, const std::vector<VarId>& groups, VarId column, VarId inner) {
  int found = 0;
  for (const IndexExpr& index : read.index) {
    IndexExpr rest = index;
    for (const VarId group : groups) rest -= IndexExpr::Var(group) * index.Coefficient(group);
    // If no group is in the index, the copy has the whole dimension, and the index must have no
    // offset.
    if (rest == index && !rest.IsConstant() && rest.constant() != 0) return false;
    rest -= rest.constant();
    if (rest.IsConstant()) continue;
    const std::optional<VarId> alone = rest.AsVar();
    if (!alone) return false;
    if (*alone == column || *alone == inner) ++found;
  }
  return found == 2;
}

CudaStreamOperand OperandOf(const StreamPlan& stream, StatementId product, int inner_dimension) {
  CudaStreamOperand operand;
  const Compute& compute = *stream.compute;
  const Statement& statement = stream.statement(product);
  const Read* const read = GivenOperand(compute, statement);
  const auto column = stream.IteratorOf(product, stream.column);
  const auto inner = stream.IteratorOf(product, inner_dimension);
  if (read == nullptr || !column || !inner) return operand;
  const Tensor& tensor = compute.tensors[read->tensor];
  operand.bytes = static_cast<int64_t>(SizeOf(tensor.type));
  const std::vector<VarId> groups = GroupsOf(stream, product, *read);
  if (read->guard || !IsBox(*read, groups, *column, *inner)) return operand;
  CopyStep copy{tensor.name, statement.name, {}};
  for (const VarId group : groups) copy.groups.push_back({statement.iterators[group].name, 1});
  operand.copy = std::move(copy);
  const VarId reduced = product == stream.first ? *inner : *column;
  const VarId across = product == stream.first ? *column : *inner;
  const auto contiguous = ContiguousIterator(compute, statement, read->tensor, read->index);
  operand.along_reduced = contiguous == reduced;
  if (contiguous == reduced || contiguous == across) operand.chunk = kChunkBytes / operand.bytes;
  return operand;
}

// Sets `copied`, `ones` and `order` of the operand. The last dimension in `order` is the one whose
// index uses `along`.
void Describe(const Compute& compute, const std::string& reader, VarId along,
              CudaStreamOperand& operand) {
  const StatementId id = *compute.FindStatement(reader);
  const Statement& copy = compute.statements[StatementId(id.number() - 1)];
  const Statement& statement = compute.statements[id];
  const auto read = std::ranges::find(statement.reads, copy.writes[0].tensor, &Read::tensor);
  operand.copied = copy.name;
  std::vector<std::pair<int, int64_t>> ranked;
  for (size_t d = 0; d < read->index.size(); ++d) {
    const IndexExpr& index = read->index[d];
    ranked.emplace_back(index.Uses(along) ? 1 : 0, static_cast<int64_t>(d));
    if (!index.IsConstant()) continue;
    const std::string& name = copy.iterators[IteratorVar(d)].name;
    operand.ones.push_back(fmt::format("{}.{}", copy.name, name));
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int, int64_t>::first);
  for (const auto& [rank, dimension] : ranked) operand.order.push_back(dimension);
}

void ApplyCopies(CudaStreamPlan& plan) {
  const StreamPlan& stream = plan.stream;
  Compute compute = *stream.compute;
  const auto apply = [&](CudaStreamOperand& operand, StatementId product, int reduced, int across) {
    if (!operand.copy) return;
    Result<Compute> copied = Apply(compute, *operand.copy);
    if (!copied) {
      operand.copy.reset();
      return;
    }
    compute = *std::move(copied);
    const int along = operand.along_reduced ? reduced : across;
    Describe(compute, operand.copy->statement, *stream.IteratorOf(product, along), operand);
  };
  apply(plan.keys, stream.first, stream.depth, stream.column);
  apply(plan.values, stream.last, stream.column, stream.width);
}

// --- sizes ---

int64_t Bytes(const StreamPlan& stream, TensorId tensor) {
  return static_cast<int64_t>(SizeOf(stream.compute->tensors[tensor].type));
}

// Returns the number of elements that a block stores at once of the tensor that `maker` writes.
int64_t BlockElements(const CudaStreamPlan& plan, StatementId maker) {
  const StreamPlan& stream = plan.stream;
  const TensorId tensor = stream.statement(maker).writes[0].tensor;
  const int64_t chunks = plan.StaysInChunk(tensor) ? 1 : stream.chunks;
  switch (plan.WorkOf(maker)) {
    case StreamWork::kQueries:
      return stream.rows * stream.depths;
    case StreamWork::kFirst:
    case StreamWork::kCells:
      return stream.rows * stream.columns;
    case StreamWork::kColumns:
    case StreamWork::kRows:
      return stream.rows * chunks;
    case StreamWork::kLast:
    case StreamWork::kWidths:
      return stream.rows * stream.widths;
  }
  return 0;
}

int64_t PieceBytes(const CudaStreamOperand& operand, int64_t extent, int64_t piece, int64_t reduced,
                   int64_t stages) {
  if (!operand.copy) return 0;
  const int64_t turns = reduced > piece ? stages : 1;
  return extent * std::min(piece, reduced) * operand.bytes * turns;
}

int64_t SharedBytes(const CudaStreamPlan& plan, const CudaStreamChoice& choice) {
  constexpr int64_t kOthers = 1024;  // bytes for alignment and for values that threads combine
  const StreamPlan& stream = plan.stream;
  int64_t bytes = kOthers;
  for (const StatementId s : stream.compute->statements.ids()) {
    const TensorId tensor = stream.statement(s).writes[0].tensor;
    if (stream.compute->tensors[tensor].role != TensorRole::kWorkspace) continue;
    if (!plan.IsPrivate(tensor)) bytes += BlockElements(plan, s) * Bytes(stream, tensor);
  }
  const int64_t keys =
      PieceBytes(plan.keys, stream.columns, choice.depth_piece, stream.depths, choice.stages);
  const int64_t values =
      PieceBytes(plan.values, stream.widths, choice.column_piece, stream.columns, choice.stages);
  return bytes + std::max(keys, values);  // both use the same storage, one after the other
}

int64_t ElementsOf(int64_t extent, const CudaStreamChoice& choice) {
  return CeilDivide(extent, choice.column_threads);
}

BlockUse UseOf(const CudaStreamPlan& plan, const CudaStreamChoice& choice) {
  constexpr int64_t kOthers = 64;   // registers for addresses and for elements of one column
  constexpr int64_t kTogether = 4;  // elements of each row that are loaded at once
  const StreamPlan& stream = plan.stream;
  const int64_t cells = choice.row_elements * ElementsOf(stream.columns, choice);
  const int64_t outputs = choice.row_elements * ElementsOf(stream.widths, choice);
  // With a swizzle, each score also needs a register for the address of its exponential. Without a
  // swizzle, four scores share such a register.
  const int64_t scores = RowsChangePlaces(choice) ? 2 * cells : cells + cells / 4;
  // The scores and the outputs of one KV block are not live at the same time. The outputs that
  // several KV blocks carry are always live.
  const int64_t kept = std::max(scores, outputs) + (stream.chunk ? outputs : 0);
  return {.threads = choice.column_threads * RowThreads(plan, choice),
          .registers = kept + kTogether * choice.row_elements + kOthers,
          .shared_bytes = SharedBytes(plan, choice)};
}

// Returns the clocks that a processor needs for one product of a block, in one KV block. Loads and
// multiply-adds mostly overlap. `elements` is the number of sums of a thread in each row. `length`
// is the number of terms of each sum.
double ProductClocks(const CudaStreamPlan& plan, const CudaStreamChoice& choice,
                     const CudaStreamOperand& operand, int64_t elements, int64_t length,
                     const Accelerator& device) {
  constexpr double kBeside = 0.2;  // fraction of the shorter time that does not overlap
  const auto warps = static_cast<double>(
      CeilDivide(choice.column_threads * RowThreads(plan, choice), kWarpThreads));
  const auto rows = static_cast<double>(choice.row_elements);
  const auto own = static_cast<double>(elements);
  const double multiply = rows * own * kWarpThreads / static_cast<double>(device.multiply_adds);
  double loads = own * static_cast<double>(choice.column_threads) / kWarpThreads + rows / 4;
  if (!operand.copy) loads += own;
  return static_cast<double>(length) * warps *
         (std::max(multiply, loads) + kBeside * std::min(multiply, loads));
}

double BarrierClocks(const StreamPlan& stream, const CudaStreamChoice& choice) {
  constexpr double kBarrier = 30;
  const int64_t pieces = CeilDivide(stream.depths, choice.depth_piece) +
                         CeilDivide(stream.columns, choice.column_piece);
  return kBarrier * static_cast<double>(2 * pieces + 2 * choice.row_elements + 7);
}

// Returns a length of K-blocks from 8 to 32. Extents from 16 on have at least two K-blocks, so that
// one is copied while the other is used.
int64_t PieceOf(int64_t extent) {
  constexpr int64_t kLeast = 8;
  constexpr int64_t kMost = 32;
  int64_t piece = kMost;
  while (piece > kLeast && 2 * piece > extent) piece /= 2;
  return piece;
}

}  // namespace

bool CudaStreamPlan::StaysInChunk(TensorId tensor) const {
  if (!stream.chunk) return false;
  const auto same_chunk = [&](StatementId s, const auto& access) {
    if (access.tensor != tensor) return true;
    const auto chunk = stream.IteratorOf(s, *stream.chunk);
    return chunk && std::ranges::any_of(access.index, [&](const IndexExpr& index) {
             return index.AsVar() == *chunk;
           });
  };
  for (const StatementId s : stream.compute->statements.ids()) {
    const auto stays = [&](const auto& access) { return same_chunk(s, access); };
    const Statement& statement = stream.statement(s);
    if (!std::ranges::all_of(statement.reads, stays) ||
        !std::ranges::all_of(statement.writes, stays)) {
      return false;
    }
  }
  return true;
}

bool CudaStreamPlan::IsPrivate(TensorId tensor) const {
  for (const StatementId s : stream.compute->statements.ids()) {
    const Statement& statement = stream.statement(s);
    const StreamWork done = WorkOf(s);
    const auto touches = [&](const auto& access) { return access.tensor == tensor; };
    if (std::ranges::any_of(statement.writes, touches)) {
      const bool own = done == StreamWork::kFirst || done == StreamWork::kCells ||
                       done == StreamWork::kLast || done == StreamWork::kWidths;
      if (!own) return false;
    }
    const bool is_operand = done == StreamWork::kFirst || done == StreamWork::kLast;
    if (is_operand && std::ranges::any_of(statement.reads, touches)) return false;
  }
  return true;
}

std::optional<CudaStreamPlan> MakeCudaStreamPlan(const NamedCompute& lowering) {
  std::optional<StreamPlan> stream = MakeStreamPlan(lowering);
  // With `bounded_columns`, each thread would have to test each of its columns.
  if (!stream || stream->bounded_columns) return std::nullopt;
  CudaStreamPlan plan{.stream = *std::move(stream)};
  for (const StatementId s : plan.stream.compute->statements.ids()) {
    const std::optional<StreamWork> work = WorkOf(plan.stream, s);
    if (!work) return std::nullopt;
    plan.work.push_back(*work);
  }
  plan.keys = OperandOf(plan.stream, plan.stream.first, plan.stream.depth);
  plan.values = OperandOf(plan.stream, plan.stream.last, plan.stream.width);
  ApplyCopies(plan);
  return plan;
}

int64_t RowThreads(const CudaStreamPlan& plan, const CudaStreamChoice& choice) {
  return CeilDivide(plan.stream.rows, choice.row_elements);
}

bool RowsChangePlaces(const CudaStreamChoice& choice) {
  return choice.column_threads < kWarpThreads;
}

int64_t LanesOf(int64_t extent, const CudaStreamChoice& choice) {
  constexpr int64_t kMost = 4;
  int64_t lanes = kMost;
  while (lanes > 1 && (extent % lanes != 0 || extent < lanes * choice.column_threads)) lanes /= 2;
  return lanes;
}

CudaStreamChoice Fitted(const CudaStreamPlan& plan, CudaStreamChoice choice,
                        const Accelerator& device) {
  constexpr int64_t kMostThreads = 1024;
  const StreamPlan& stream = plan.stream;
  const auto halve = [](int64_t& number) { number = std::max<int64_t>(number / 2, 1); };
  // Statements with one value per row use one thread per row, so a block needs at least as many
  // threads as rows.
  choice.row_elements = std::min({choice.row_elements, stream.rows, choice.column_threads});
  choice.depth_piece = std::min(choice.depth_piece, stream.depths);
  choice.column_piece = std::min(choice.column_piece, stream.columns);
  const auto too_many = [&] {
    const BlockUse use = UseOf(plan, choice);
    return use.threads > kMostThreads || use.threads * use.registers > device.registers;
  };
  while (too_many() && choice.column_threads > 2) {
    halve(choice.column_threads);
    choice.row_elements = std::min(choice.row_elements, choice.column_threads);
  }
  while (SharedBytes(plan, choice) > device.shared_bytes && choice.depth_piece > 1)
    halve(choice.depth_piece);
  while (SharedBytes(plan, choice) > device.shared_bytes && choice.column_piece > 1)
    halve(choice.column_piece);
  return choice;
}

double EstimateSeconds(const CudaStreamPlan& plan, const CudaStreamChoice& choice,
                       const Accelerator& device) {
  constexpr double kCellOperations = 30;  // mask, comparison, exponential and sum of a score
  const StreamPlan& stream = plan.stream;
  PhaseCost cost{.blocks = stream.tasks, .use = UseOf(plan, choice)};
  const auto all = static_cast<double>(stream.chunks);
  const double chunks = stream.skips_chunks ? (all + 1) / 2 : all;
  const auto cells = static_cast<double>(stream.rows * stream.columns);
  cost.clocks = chunks * (ProductClocks(plan, choice, plan.keys, ElementsOf(stream.columns, choice),
                                        stream.depths, device) +
                          ProductClocks(plan, choice, plan.values,
                                        ElementsOf(stream.widths, choice), stream.columns, device) +
                          cells * kCellOperations / static_cast<double>(device.multiply_adds) +
                          BarrierClocks(stream, choice));
  // Each group of rows reads an operand without a copy separately.
  const auto bytes = [&](const CudaStreamOperand& operand, int64_t extent) {
    const auto once = static_cast<double>(stream.columns * extent * operand.bytes);
    return operand.copy ? once : once * static_cast<double>(RowThreads(plan, choice));
  };
  cost.l2_bytes =
      chunks * (bytes(plan.keys, stream.depths) + bytes(plan.values, stream.widths)) +
      static_cast<double>(stream.rows * (stream.depths + stream.widths)) * sizeof(float);
  return EstimateSeconds(cost, device);
}

CudaStreamChoice BestCudaStream(const CudaStreamPlan& plan, const Accelerator& device) {
  constexpr int64_t kMostThreads = 512;
  constexpr int64_t kMostRegisters = 128;
  CudaStreamChoice best;
  double least = 0;
  for (const int64_t columns : {8, 16, 32}) {
    for (const int64_t rows : {1, 2, 3, 4, 6, 8}) {
      if (rows > plan.stream.rows || plan.stream.rows % rows != 0) continue;
      const CudaStreamChoice choice = Fitted(plan,
                                             {.column_threads = columns,
                                              .row_elements = rows,
                                              .depth_piece = PieceOf(plan.stream.depths),
                                              .column_piece = PieceOf(plan.stream.columns)},
                                             device);
      const BlockUse use = UseOf(plan, choice);
      if (use.threads > kMostThreads || use.registers > kMostRegisters) continue;
      const double seconds = EstimateSeconds(plan, choice, device);
      if (least != 0 && seconds >= least) continue;
      least = seconds;
      best = choice;
    }
  }
  return Fitted(plan, best, device);
}

}  // namespace tunec
