// What a drawing of iteration spaces shows: points, what depends on what, and the order that a
// schedule tree gives them, as plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "polyhedral/explain/instance_pairs.h"
#include "polyhedral/legality/legality.h"
#include "polyhedral/schedule_tree.h"
#include "support/error.h"

namespace tunec {

/// A slice of a statement's iteration domain: one or two of its iterators run, the others stay.
struct PictureView {
  StatementId statement;
  std::vector<VarId> axes;     // rows and columns, or columns alone
  std::vector<int64_t> at;     // by iterator: its value, or where an axis begins
  std::vector<int64_t> sizes;  // by axis: how many points of it at most
};

struct PicturePoint {
  int64_t row = 0, column = 0;  // values of the axes; row 0 where there is one axis
  std::vector<int64_t> tiles;   // numbers of the tiles it lies in, outermost level first
  int64_t wave = 0;             // waves run one after another
  int64_t task = 0;             // tasks of one wave may run at the same time
  int64_t step = 0;             // its turn within the task; lanes of a vector share one
};

/// Numbers of tiles, waves, tasks and steps are dense, from 0, in the order of execution.
struct PicturePanel {
  PictureView view;
  InstanceBox box;                   // what of the statement's instances the view takes in
  size_t tile_levels = 0;            // entries of each point's `tiles`
  std::vector<PicturePoint> points;  // in rows
};

struct PictureArrow {
  size_t from_panel = 0, from_point = 0;
  size_t to_panel = 0, to_point = 0;
  DependenceType type = DependenceType::kFlow;
  bool kept = true;  // by the order of execution
};

struct Picture {
  std::vector<PicturePanel> panels;
  std::vector<PictureArrow> arrows;
  bool has_waves = false;  // of the statements in the panels
  bool has_tasks = false;
  bool has_vectors = false;
  bool others = false;  // there are dependences that leave the slices
};

/// The most points along an axis, and the most arrows of a picture.
inline constexpr int64_t kWidestPicture = 40;
inline constexpr size_t kMostArrows = 12000;

/// Loops whose values change at some steps along an axis and not at others make tiles: the points
/// that share them and all loops outside them. `dependences` are of the tree's statements. Storage
/// reused between runs of a stage gives no arrows: each run has its own. Errors: kInvalidArgument
/// for a slice without points, kResourceLimit for too many arrows.
Result<Picture> TakePicture(const ScheduleTree& tree, const Dependences& dependences,
                            const std::vector<PictureView>& views, ReductionOrder order);

}  // namespace tunec
