// The roles that a sum's iterators play in a block's tile (cuda_tile.cc), and how large the parts
// of a tile are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/target.h"
#include "polyhedral/legality/legality.h"
#include "schedule/schedule.h"

namespace tunec {

/// A tensor that the sum reads.
struct CudaTileOperand {
  std::string tensor;
  std::vector<IndexExpr> index;
  bool shared = false;  // copied to storage of the block: a tile of it is a box
  // Dimensions of which a tile reads a window, where tiles that lie side by side may overlap. With
  // any, it is shared only where the choice says so.
  std::vector<size_t> windows;
  // Dimensions of which another reduction than that in pieces chooses an element by a quotient. A
  // tile is then a box for each of its iterations, which only tiles of warps know to share.
  std::vector<size_t> planes;
  // Iterators of outputs that decide where in the tensor a block's copy begins.
  std::vector<VarId> starts;
  int64_t bytes = 4;  // of an element
  // What its index knows, so that choices can be compared quickly.
  std::vector<VarId> iterators;
  bool knows_column = false;
  bool knows_row = false;
  bool has_neighbours = false;  // those of columns lie side by side
};

/// An output iterator that a tile has several iterations of: threads, and in a row or a column
/// elements of a thread.
struct CudaTileAxis {
  VarId iterator;
  int64_t extent = 1;
  bool free = true;  // of conditions: a thread may have several
};

struct CudaTilePlan {
  std::shared_ptr<const Compute> compute;  // as `cache_write` leaves it
  std::optional<CacheWriteStep> cache_write;
  Statement sum;
  std::vector<std::string> followers;
  std::vector<std::string> registers;  // tensors that each thread has its own part of
  std::vector<CudaTileOperand> operands;
  CudaTileAxis column;                       // neighbours in the output
  std::optional<CudaTileAxis> outer_column;  // of the same operands, where the columns are few
  CudaTileAxis row;                          // what the columns' operands do not know
  std::optional<CudaTileAxis> outer_row;
  std::vector<VarId> grid;     // other outputs, outermost first
  std::vector<VarId> outside;  // reductions around the pieces that are shared
  VarId piecewise;             // the reduction that goes through shared storage in pieces
  std::vector<VarId> inside;   // reductions that pieces have wholly
  std::vector<VarId> outputs;  // all of them
  double reductions = 1;       // iterations for each output
  // Tiles go beyond the ends of what they tile, and the sum is padded until all of them are full.
  // Conditions of its domain become zeros in the copies of operands.
  bool padded = false;
  bool pads_pieces = false;  // the last piece of the reduction, too

  int64_t Extent(VarId iterator) const { return sum.iterators[iterator].extent; }
  const std::string& Name(VarId iterator) const { return sum.iterators[iterator].name; }
};

/// None where the first statement is no sum over two operands that each know outputs which the
/// other does not. `compute`: the sum and its followers.
std::optional<CudaTilePlan> MakeCudaTilePlan(const Compute& compute);

/// The same with tiles that are all full (`pad`). None, too, where an operand can't be copied, so
/// that its end would be a condition for each product, and where the order of sums does not let
/// their conditions go.
std::optional<CudaTilePlan> MakePaddedCudaTilePlan(const Compute& compute, ReductionOrder order);

struct CudaTileChoice {
  int64_t column_threads = 16;
  int64_t column_elements = 4;  // of a thread
  int64_t outer_columns = 1;    // threads
  int64_t row_threads = 8;
  int64_t row_elements = 4;
  int64_t outer_rows = 1;
  int64_t piece = 8;  // iterations of the piecewise reduction
  int64_t stages = 2;
  int64_t band = 1;      // rows of blocks that run near each other
  bool windows = false;  // are shared
  int64_t parts = 1;     // of the reduction, each by blocks of its own (cuda_split.h)
  bool pad = false;      // by the padded plan, where there are both

  int64_t Columns() const { return column_threads * column_elements; }
  int64_t Rows() const { return row_threads * row_elements; }
  int64_t Threads() const { return column_threads * outer_columns * row_threads * outer_rows; }
};

/// The choice with what this plan can't have made smaller: no more threads than a block may have
/// and no more storage than it may share.
CudaTileChoice Fitted(const CudaTilePlan& plan, CudaTileChoice choice, const Accelerator& device);

/// The numbers of iterations that a tile has of an iterator in this choice: 1 of those that only
/// number blocks.
int64_t TileExtent(const CudaTilePlan& plan, const CudaTileChoice& choice, VarId iterator);

/// Iterations of the piecewise reduction in a piece.
int64_t PieceLength(const CudaTilePlan& plan, const CudaTileChoice& choice);

/// What makes all tiles full: the iterators that tiles do not divide. None where the plan is not
/// padded, or tiles divide all and there are no conditions.
std::optional<PadStep> PaddingOf(const CudaTilePlan& plan, const CudaTileChoice& choice);

int64_t BlocksOf(const CudaTilePlan& plan, const CudaTileChoice& choice);

/// Elements along one dimension of an operand that one piece of one tile reads.
int64_t SideLength(const CudaTilePlan& plan, const CudaTileChoice& choice, const IndexExpr& index);

/// Whether the choice has the operand in shared storage.
bool IsShared(const CudaTilePlan& plan, const CudaTileChoice& choice,
              const CudaTileOperand& operand);

/// An index without the outputs of which a tile has one.
IndexExpr PlaceInTile(const CudaTilePlan& plan, const CudaTileChoice& choice,
                      const IndexExpr& index);

/// How many stages really are: one where one piece is all.
int64_t StagesOf(const CudaTilePlan& plan, const CudaTileChoice& choice);

/// By occupancy, waves and bytes. Requires: a device with all facts.
double EstimateSeconds(const CudaTilePlan& plan, const CudaTileChoice& choice,
                       const Accelerator& device);

/// The choice of which that says least. Requires: a device with all facts.
CudaTileChoice BestCudaTile(const CudaTilePlan& plan, const Accelerator& device);

}  // namespace tunec
