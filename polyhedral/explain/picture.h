// The content of a drawing of iteration spaces as plain data: points, dependences between points,
// and the execution order of a schedule tree.
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
  std::vector<int64_t> at;     // by iterator: its value, or the start of its axis
  std::vector<int64_t> sizes;  // by axis: most points along it
};

struct PicturePoint {
  int64_t row = 0, column = 0;  // values of the axes; row is 0 if there is one axis
  std::vector<int64_t> tiles;   // numbers of the enclosing tiles, outermost level first
  int64_t wave = 0;             // waves run one after another
  int64_t task = 0;             // tasks of one wave may run at the same time
  int64_t step = 0;             // position within the task; lanes of a vector share one step
};

/// One panel of a picture. Numbers of tiles, waves, tasks and steps are dense, from 0, in execution
/// order.
struct PicturePanel {
  PictureView view;
  InstanceBox box;                   // the statement's instances that the view covers
  size_t tile_levels = 0;            // entries of each point's `tiles`
  std::vector<PicturePoint> points;  // in rows
};

struct PictureArrow {
  size_t from_panel = 0, from_point = 0;
  size_t to_panel = 0, to_point = 0;
  DependenceType type = DependenceType::kFlow;
  bool kept = true;  // the execution order respects the dependence
};

struct Picture {
  std::vector<PicturePanel> panels;
  std::vector<PictureArrow> arrows;
  bool has_waves = false;  // refers to the statements in the panels
  bool has_tasks = false;
  bool has_vectors = false;
  bool others = false;  // some dependences leave the slices
};

/// The most points along an axis, and the most arrows of a picture.
inline constexpr int64_t kWidestPicture = 40;
inline constexpr size_t kMostArrows = 12000;

/// Makes a picture. Loops whose values change at only some steps along an axis make tiles: points
/// with equal values of these loops and of all loops outside share a tile. `dependences` are of the
/// tree's statements. Storage that is reused between runs of a stage gives no arrows, because each
/// run has separate storage. Errors: kInvalidArgument for a slice without points, kResourceLimit
/// for too many arrows.
Result<Picture> TakePicture(const ScheduleTree& tree, const Dependences& dependences,
                            const std::vector<PictureView>& views, ReductionOrder order);

}  // namespace tunec
