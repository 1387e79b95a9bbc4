#include "schedule/sketches/tile_operands.h"

#include <algorithm>
#include <optional>

#include "support/check.h"

namespace tunec {

PackStep PackForColumns(const TilePlan& plan, int64_t columns) {
  PackStep pack = *plan.pack;
  for (PackStep::Axis& axis : pack.axes) {
    if (axis.part != PackStep::Part::kWhole && axis.factor == 1) axis.factor = columns;
  }
  return pack;
}

void TileOperands::PackSum() {
  if (Sum() != nullptr && Sum()->plan.pack) Add(PackForColumns(Sum()->plan, vector_));
}

// Returns the operand's loop over the iterator after the statement has moved into the row's loop.
// The loop has the name of the reduction's iterator, or of the operand statement's iterator if
// K-blocks split the reduction's iterator.
std::string TileOperands::LoopInBlock(VarId iterator) const {
  const TilePlan::Operand& operand = *plan_.operand;
  if (!plan_.pieces || iterator != plan_.pieces->along) {
    return operand.statement + "." + plan_.reduction.iterators[iterator].name;
  }
  const Statement& maker = StatementNamed(operand.statement);
  const auto read = std::ranges::find(plan_.reduction.reads, operand.tensor, &Read::tensor);
  for (size_t d = 0; d < read->index.size(); ++d) {
    if (!read->index[d].Uses(iterator)) continue;
    return operand.statement + "." + maker.iterators[*maker.writes[0].index[d].AsVar()].name;
  }
  TUNEC_UNREACHABLE("{} does not use the iterator", operand.statement);
}

// Moves the operand's statement into the row's outermost loop. The moved loops are copies of the
// reduction's loops, and the last one is split into vectors.
void TileOperands::ComputeByBlock(const std::vector<std::string>& row_parts) {
  const TilePlan::Operand& operand = *plan_.operand;
  const std::string place = plan_.Loop(*plan_.row) + ".0";
  Add(ComputeAtStep{operand.statement, place});
  ReorderStep order{LoopsOfOne()};
  const auto first_row = std::ssize(order.loops);
  const std::vector<VarId> below = IteratorsInBlock();
  for (const VarId iterator : below) {
    const std::string loop = LoopInBlock(iterator);
    if (iterator == plan_.row) {
      for (const std::string& part : row_parts) order.loops.push_back(loop + part);
      continue;
    }
    const bool last = iterator == below.back();
    const int64_t extent = plan_.Extent(iterator);
    if (last && extent > vector_) {
      Add(SplitStep{loop, {vector_}});
      if (extent % vector_ != 0) Add(IsolateStep{loop + ".0"});
      order.loops.push_back(loop + ".0");
      order.loops.push_back(loop + ".1");
    } else {
      order.loops.push_back(loop);
    }
  }
  vector_loop_ = order.loops.empty() ? "" : order.loops.back();
  if (Sum() != nullptr) {
    // The loops over rows move directly around the vector loop, so that a tile has one vector of
    // columns.
    const auto parts = std::ssize(row_parts);
    const auto rows = order.loops.begin() + first_row;
    tile_loop_ = rows[parts - 2];
    row_loop_ = rows[parts - 1];
    std::rotate(rows, rows + parts, order.loops.end() - 1);
  }
  if (order.loops.size() > 1) Add(std::move(order));
  if (Sum() != nullptr) ComputeSum();
  Add(StageStep{plan_.compute->tensors[operand.tensor].name, Scope::kPacked, place,
                OrderInBuffer()});
}

// Moves the sum into the loop over its tiles, where it precedes the operand's statement. The sum of
// a tile is in registers.
void TileOperands::ComputeSum() {
  const TilePlan& sum = Sum()->plan;
  const std::string& name = sum.reduction.name;
  Add(ComputeAtStep{name, tile_loop_});
  ReorderStep order;
  for (const VarId v : ReductionOrderOf(sum)) order.loops.push_back(sum.Loop(v));
  order.loops.push_back(InStatement(name, row_loop_));
  order.loops.push_back(InStatement(name, vector_loop_));
  Add(std::move(order));
  Add(ComputeAtStep{name + ".init", tile_loop_});
  Add(StageStep{sum.compute->tensors[sum.reduction.writes[0].tensor].name, Scope::kRegister,
                tile_loop_});
}

void TileOperands::FinishSum() {
  const TilePlan& sum = Sum()->plan;
  const std::string& name = sum.reduction.name;
  for (const std::string& part : {name + ".init", name, plan_.operand->statement}) {
    Add(UnrollStep{InStatement(part, row_loop_)});
    Add(VectorizeStep{InStatement(part, vector_loop_)});
  }
  for (const VarId v : sum.short_reductions) Add(UnrollStep{sum.Loop(v)});
}

void TileOperands::PrefetchSum(const std::string& loop) {
  const TilePlan& sum = Sum()->plan;
  for (const Read& read : sum.reduction.reads) {
    const Tensor& tensor = sum.compute->tensors[read.tensor];
    const bool packed = tensor.constant || (sum.pack && sum.pack->tensor == tensor.name);
    if (!packed) Add(PrefetchStep{tensor.name, loop, 1, 2});
  }
}

void TileOperands::VectorizeBlock() {
  if (Sum() != nullptr) return FinishSum();
  if (!vector_loop_.empty()) Add(VectorizeStep{vector_loop_});
}

// Returns the order of the operand's dimensions in its buffer. The dimension that uses the long
// reduction comes last if the operand must be contiguous along it.
std::vector<int64_t> TileOperands::OrderInBuffer() const {
  const auto read = std::ranges::find(plan_.reduction.reads, plan_.operand->tensor, &Read::tensor);
  std::vector<int64_t> order;
  std::optional<int64_t> last;
  for (int64_t d = 0; d < std::ssize(read->index); ++d) {
    const bool grouped =
        AlongReduced() && read->index[static_cast<size_t>(d)].Uses(*plan_.long_reduction);
    if (grouped) {
      last = d;
    } else {
      order.push_back(d);
    }
  }
  if (last) order.push_back(*last);
  return order;
}

// Returns the operand's loops over dimensions that the reduction reads at a constant index. Only
// the loops of a statement that rounds an operand cover such dimensions.
std::vector<std::string> TileOperands::LoopsOfOne() const {
  std::vector<std::string> loops;
  if (!plan_.dot) return loops;
  const Statement& statement = StatementNamed(plan_.operand->statement);
  const auto read = std::ranges::find(plan_.reduction.reads, plan_.operand->tensor, &Read::tensor);
  for (size_t d = 0; d < read->index.size(); ++d) {
    const std::optional<VarId> iterator = statement.writes[0].index[d].AsVar();
    if (!read->index[d].IsConstant() || !iterator) continue;
    loops.push_back(statement.name + "." + statement.iterators[*iterator].name);
  }
  return loops;
}

// Returns the reduction's iterators that walk the operand's dimensions inside a block of rows.
std::vector<VarId> TileOperands::IteratorsInBlock() const {
  std::vector<VarId> below;
  for (const VarId iterator : plan_.operand->dimensions) {
    const bool around = std::ranges::find(plan_.shared, iterator) != plan_.shared.end() ||
                        std::ranges::find(plan_.outer_rows, iterator) != plan_.outer_rows.end();
    if (!around) below.push_back(iterator);
  }
  // The order is that of the buffer (OrderInBuffer).
  if (AlongReduced()) {
    const auto last = std::ranges::find(below, *plan_.long_reduction);
    if (last != below.end()) std::rotate(last, last + 1, below.end());
  }
  return below;
}

void TileOperands::WritePhase(const std::string& name) {
  const Statement& statement = StatementNamed(name);
  if (statement.reducer || statement.iterators.empty()) return;
  if (plan_.dot && WriteRounding(statement)) return;
  const auto loop = [&](const Iterator& iterator) { return name + "." + iterator.name; };
  std::string last = loop(statement.iterators.back());
  if (statement.iterators.back().extent > vector_) {
    Add(SplitStep{last, {vector_}});
    last += ".1";
  }
  Add(VectorizeStep{last});
  for (VarId i = IteratorVar(0); statement.iterators.contains(i.next()); ++i) {
    Add(ParallelizeStep{loop(statement.iterators[i])});
    if (statement.iterators[i].extent > 1) break;
  }
}

namespace {

// Returns the axis between the quotient and the remainder of the dimension; null if there is none.
const PackStep::Axis* MiddleOf(const std::vector<PackStep::Axis>& axes, int dimension) {
  const auto found = std::ranges::find_if(axes, [&](const PackStep::Axis& axis) {
    return axis.dimension == dimension && axis.part == PackStep::Part::kMiddle;
  });
  return found == axes.end() ? nullptr : &*found;
}

// Returns the factors that split the loop over a dimension into loops over its parts.
std::vector<int64_t> FactorsBelow(const std::vector<PackStep::Axis>& axes,
                                  const PackStep::Axis& quotient) {
  const PackStep::Axis* middle = MiddleOf(axes, quotient.dimension);
  if (middle == nullptr) return {quotient.factor};
  return {quotient.factor / middle->factor, middle->factor};
}

// Returns the suffix in the name of the loop over a part of a dimension.
std::string SuffixOf(const std::vector<PackStep::Axis>& axes, const PackStep::Axis& axis) {
  if (axis.part == PackStep::Part::kQuotient) return ".0";
  if (axis.part == PackStep::Part::kMiddle) return ".1";
  return MiddleOf(axes, axis.dimension) == nullptr ? ".1" : ".2";
}

}  // namespace

// Adds the steps of a separate phase for a statement that rounds an operand. The loops walk the
// operand in its storage order. Returns false, and adds nothing, for any other statement.
bool TileOperands::WriteRounding(const Statement& statement) {
  const std::string& written = plan_.compute->tensors[statement.writes[0].tensor].name;
  const bool packed = written == plan_.pack->tensor;
  const bool ordered = plan_.dot->broadcast && written == plan_.dot->broadcast->tensor;
  if (!packed && !ordered) return false;
  const std::vector<PackStep::Axis> axes =
      packed ? PackForColumns(plan_, columns_).axes : plan_.dot->broadcast->axes;
  // The statement has an iterator for each dimension, in order, except for the planes of bfloat16
  // parts. It writes these planes one after the other.
  const int first = plan_.dot->part_product ? 1 : 0;
  const auto extent = [&](const PackStep::Axis& axis) {
    return statement.iterators[IteratorVar(axis.dimension - first)].extent;
  };
  ReorderStep order;
  std::vector<int64_t> extents;  // extents of the dimensions that the loops walk
  for (const PackStep::Axis& axis : axes) {
    if (axis.dimension < first) continue;
    std::string loop =
        statement.name + "." + statement.iterators[IteratorVar(axis.dimension - first)].name;
    if (axis.part == PackStep::Part::kQuotient) {
      Add(SplitStep{loop, FactorsBelow(axes, axis)});
      Add(IsolateStep{loop + ".0"});
    }
    if (axis.part != PackStep::Part::kWhole) loop += SuffixOf(axes, axis);
    order.loops.push_back(std::move(loop));
    extents.push_back(extent(axis));
  }
  if (order.loops.size() > 1) Add(order);
  std::string last = order.loops.back();
  if (axes.back().part == PackStep::Part::kWhole && extents.back() > vector_) {
    Add(SplitStep{last, {vector_}});
    last += ".1";
  }
  Add(VectorizeStep{last});
  for (size_t i = 0; i + 1 < order.loops.size(); ++i) {
    Add(ParallelizeStep{order.loops[i]});
    if (extents[i] > 1) break;
  }
  return true;
}

}  // namespace tunec
