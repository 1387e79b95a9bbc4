// The plan of a sum over several operands by plain threads (cuda_tile.cc). A thread block computes
// one tile. The plan has the role of each iterator in the tile, and the choice has the tile's
// sizes.
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

/// An operand of the sum: a tensor, and the index at which the sum reads it.
struct CudaTileOperand {
  std::string tensor;
  std::vector<IndexExpr> index;
  bool shared = false;  // copied to shared storage: a tile of it is a rectangular slice
  // Dimensions of which a tile reads a window; windows of neighbouring tiles may overlap. An
  // operand with windows is shared only if the choice has `windows`.
  std::vector<size_t> windows;
  // Dimensions whose index uses only reductions other than the piecewise one, and not as a window,
  // such as a quotient. A tile is a rectangular slice for each iteration of these reductions. Only
  // a CudaTensorPlan can share such an operand.
  std::vector<size_t> planes;
  // Output iterators that the index uses, and along which each tile has a separate copy.
  std::vector<VarId> starts;
  int64_t bytes = 4;  // size of an element
  // Properties of the index, stored so that choices can be compared quickly.
  std::vector<VarId> iterators;
  bool depends_on_column = false;
  bool depends_on_row = false;
  bool has_neighbours = false;  // elements of consecutive columns are contiguous
};

/// An output iterator of which a tile may have several iterations, distributed over threads. For a
/// row or a column, one thread may have several of these iterations.
struct CudaTileAxis {
  VarId iterator;
  int64_t extent = 1;
  bool free = true;  // without conditions, so a thread may have several elements
};

struct CudaTilePlan {
  std::shared_ptr<const Compute> compute;  // after `cache_write`
  std::optional<CacheWriteStep> cache_write;
  Statement sum;
  std::vector<std::string> followers;
  std::vector<std::string> registers;  // tensors whose parts are private to threads
  std::vector<CudaTileOperand> operands;
  CudaTileAxis column;                       // contiguous in the output
  std::optional<CudaTileAxis> outer_column;  // second column iterator, if `column` is short
  CudaTileAxis row;  // an iterator that the operands of the columns do not use
  std::optional<CudaTileAxis> outer_row;
  std::vector<VarId> grid;     // other output iterators, outermost first
  std::vector<VarId> outside;  // reductions around the K-blocks in shared storage
  VarId piecewise;             // the reduction that is split into K-blocks for shared storage
  std::vector<VarId> inside;   // reductions that each K-block contains completely
  std::vector<VarId> outputs;  // all output iterators
  double reductions = 1;       // iterations of all reductions for each output element
  // True if tiles may extend beyond the ends of the sum's dimensions. The sum is then padded until
  // all tiles are full. The conditions of its domain become zeros in the copies of operands.
  bool padded = false;
  bool pads_pieces = false;  // the last K-block of the reduction is padded too

  int64_t Extent(VarId iterator) const { return sum.iterators[iterator].extent; }
  const std::string& Name(VarId iterator) const { return sum.iterators[iterator].name; }
};

/// Returns a plan of the first statement's sum. Returns nothing, for example, if the sum has only
/// one operand or few terms. `compute` has the sum and its followers.
std::optional<CudaTilePlan> MakeCudaTilePlan(const Compute& compute);

/// Returns a plan whose tiles are all full (`pad`). Returns nothing if an operand cannot be copied,
/// because its end would then be a condition for each product. Also returns nothing if the sum does
/// not fit, or if `order` does not permit removing the conditions.
std::optional<CudaTilePlan> MakePaddedCudaTilePlan(const Compute& compute, ReductionOrder order);

struct CudaTileChoice {
  int64_t column_threads = 16;
  int64_t column_elements = 4;  // elements of a thread
  int64_t outer_columns = 1;    // number of threads along `outer_column`
  int64_t row_threads = 8;
  int64_t row_elements = 4;
  int64_t outer_rows = 1;
  int64_t piece = 8;  // iterations of the piecewise reduction in a K-block
  int64_t stages = 2;
  int64_t band = 1;      // rows of blocks in a band, whose blocks run near each other in time
  bool windows = false;  // windows are shared
  int64_t parts = 1;     // number of parts of the reduction, each computed by separate blocks
                         // (cuda_split.h)
  bool pad = false;      // uses the padded plan, if there are both

  int64_t Columns() const { return column_threads * column_elements; }
  int64_t Rows() const { return row_threads * row_elements; }
  int64_t Threads() const { return column_threads * outer_columns * row_threads * outer_rows; }
};

/// Returns the choice, adjusted to sizes that the plan and, if possible, the device allow.
CudaTileChoice Fitted(const CudaTilePlan& plan, CudaTileChoice choice, const Accelerator& device);

/// Returns the number of iterations of an output iterator in a tile: 1 if each iteration is in a
/// different block.
int64_t TileExtent(const CudaTilePlan& plan, const CudaTileChoice& choice, VarId iterator);

/// Returns the number of iterations of the piecewise reduction in a complete K-block.
int64_t PieceLength(const CudaTilePlan& plan, const CudaTileChoice& choice);

/// Returns the step that pads the iterators whose extents the tiles do not divide. Returns nothing
/// if the plan is not padded, or if tiles divide all extents and the sum has no conditions.
std::optional<PadStep> PaddingOf(const CudaTilePlan& plan, const CudaTileChoice& choice);

int64_t BlocksOf(const CudaTilePlan& plan, const CudaTileChoice& choice);

/// Returns the number of elements that one K-block of one tile copies along one dimension of an
/// operand.
int64_t SideLength(const CudaTilePlan& plan, const CudaTileChoice& choice, const IndexExpr& index);

/// Checks that the choice stores the operand in shared storage.
bool IsShared(const CudaTilePlan& plan, const CudaTileChoice& choice,
              const CudaTileOperand& operand);

/// Returns the index without the constant and without output iterators of which a tile has one
/// iteration.
IndexExpr PlaceInTile(const CudaTilePlan& plan, const CudaTileChoice& choice,
                      const IndexExpr& index);

/// Returns the number of stages that are useful: one without shared copies or with only one
/// K-block, otherwise that of the choice.
int64_t StagesOf(const CudaTilePlan& plan, const CudaTileChoice& choice);

/// Returns the estimated time by occupancy, waves and bytes; infinite if not even one block fits.
/// Requires: no property of the device is unknown (WithAllFacts).
double EstimateSeconds(const CudaTilePlan& plan, const CudaTileChoice& choice,
                       const Accelerator& device);

/// Returns, of many choices, the one with the least estimated time; a default choice if none is
/// suitable. Requires: no property of the device is unknown (WithAllFacts).
CudaTileChoice BestCudaTile(const CudaTilePlan& plan, const Accelerator& device);

}  // namespace tunec
