// The content of a drawing of iteration spaces as plain data. It has points, dependences between
// points, and the order in which a schedule tree executes the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "polyhedral/explain/instance_pairs.h"
#include "polyhedral/legality/legality.h"
#include "polyhedral/schedule_tree.h"
#include "support/error.h"

namespace tunec {

/// A slice of a statement's iteration domain: one or two iterators vary, the others are fixed.
struct PictureView {
  StatementId statement;
  std::vector<VarId> axes;     // rows and columns, or columns alone
  std::vector<int64_t> at;     // by iterator: its fixed value, or the first value along an axis
  std::vector<int64_t> sizes;  // by axis: largest number of points along it
};

struct PicturePoint {
  int64_t row = 0, column = 0;  // values of the axes; row is 0 if there is one axis
  std::vector<int64_t> tiles;   // numbers of the tiles around the point, outermost level first
  int64_t wave = 0;             // number of the wave; waves run one after another
  int64_t task = 0;             // number of the task; tasks of one wave may run at the same time
  int64_t step = 0;  // number of the step in the task; lanes of a vector have the same step
};

/// The points of one slice. Waves and tasks are numbered in the whole picture, tiles of each level
/// in the panel, and steps in the task. The numbers count from 0 without gaps, in order of time.
struct PicturePanel {
  PictureView view;
  InstanceBox box;                   // the statement's instances that the view covers
  size_t tile_levels = 0;            // number of entries of each point's `tiles`
  std::vector<PicturePoint> points;  // sorted by row, then by column
};

struct PictureArrow {
  size_t from_panel = 0, from_point = 0;
  size_t to_panel = 0, to_point = 0;
  DependenceType type = DependenceType::kFlow;
  bool respected = true;  // the execution order respects the dependence
};

struct Picture {
  std::vector<PicturePanel> panels;
  std::vector<PictureArrow> arrows;
  bool has_waves = false;  // a loop over waves is around the statement of some panel
  bool has_tasks = false;
  bool has_vectors = false;
  bool others = false;  // a dependence leads to an instance outside of the planes of the slices
};

/// Largest number of points along an axis, which callers check, and largest number of arrows of a
/// picture, which TakePicture checks.
inline constexpr int64_t kWidestPicture = 40;
inline constexpr size_t kMostArrows = 12000;

/// Makes a picture of these slices. A loop can make tiles if its value changes at only some steps
/// along an axis: points with equal values of this loop and of all loops outside share a tile.
/// `dependences` are those of the tree's statements. Anti and output dependences between runs of a
/// stage give no arrows, because each run has separate storage. Fails with kInvalidArgument for a
/// slice without points, and with kResourceLimit for too many arrows or if isl's quota is used up.
Result<Picture> TakePicture(const ScheduleTree& tree, const Dependences& dependences,
                            const std::vector<PictureView>& views, ReductionOrder order);

}  // namespace tunec
