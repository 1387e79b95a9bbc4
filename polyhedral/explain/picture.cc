#include "polyhedral/explain/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "support/check.h"

namespace tunec {
namespace {

using Key = std::vector<int64_t>;

// An entry of an instance's time: a position in a sequence or a loop's value.
struct TimeEntry {
  IndexExpr value;
  const TreeNode* loop = nullptr;  // null for a position in a sequence
};

// The times of a statement's instances (TimeOf in relations.h). The entries are in order from the
// root of the tree down to the leaf.
struct TimeLine {
  std::vector<TimeEntry> entries;
  std::map<TensorId, size_t> stages;  // by staged tensor: number of entries before its stage

  Key At(std::span<const int64_t> instance) const {
    Key key;
    for (const TimeEntry& entry : entries) key.push_back(Evaluate(entry.value, instance));
    return key;
  }
};

bool Descend(const ScheduleTree& tree, const TreeNode& node, StatementId statement,
             TimeLine& line) {
  if (node.kind == TreeNode::Kind::kLeaf) return node.statement == statement;
  const TimeLine before = line;
  if (node.kind == TreeNode::Kind::kAlloc) line.stages[node.tensor] = line.entries.size();
  for (size_t i = 0; i < node.children.size(); ++i) {
    const size_t length = line.entries.size();
    if (node.kind == TreeNode::Kind::kSequence) {
      line.entries.push_back({IndexExpr(static_cast<int64_t>(i))});
    }
    if (node.kind == TreeNode::Kind::kLoop) {
      const auto& forward = tree.forward[statement];
      const auto found = forward.find(node.loop);
      line.entries.push_back({found == forward.end() ? IndexExpr(0) : found->second, &node});
    }
    if (Descend(tree, node.children[i], statement, line)) return true;
    line.entries.resize(length);
  }
  line = before;
  return false;
}

// Numbers the keys in ascending order.
std::map<Key, int64_t> Number(const std::set<Key>& keys) {
  std::map<Key, int64_t> numbers;
  for (const Key& key : keys) numbers.emplace(key, static_cast<int64_t>(numbers.size()));
  return numbers;
}

class PictureBuilder {
 public:
  PictureBuilder(const ScheduleTree& tree, const Dependences& dependences,
                 const std::vector<PictureView>& views, ReductionOrder order)
      : tree_(tree), dependences_(dependences), order_(order) {
    for (const PictureView& view : views) {
      Panel& panel = panels_.emplace_back();
      panel.shown.view = view;
      const bool found = Descend(tree, tree.root, view.statement, panel.line);
      TUNEC_CHECK(found, "statement {} has no leaf", view.statement);
    }
  }

  Result<Picture> Take() {
    for (Panel& panel : panels_) TUNEC_RETURN_IF_ERROR(FindPoints(panel));
    for (Panel& panel : panels_) FindTiles(panel);
    FindOrder();
    for (size_t from = 0; from < panels_.size(); ++from) {
      for (size_t to = 0; to < panels_.size(); ++to) {
        TUNEC_RETURN_IF_ERROR(FindArrows(from, to));
      }
    }
    for (Panel& panel : panels_) picture_.panels.push_back(std::move(panel.shown));
    return std::move(picture_);
  }

 private:
  struct Panel {
    PicturePanel shown;
    TimeLine line;
    std::vector<Key> instances;  // by point
    std::vector<Key> times;
    std::map<Key, size_t> point_of;  // by instance
  };

  const Statement& StatementOf(const Panel& panel) const {
    return tree_.statements[panel.shown.view.statement];
  }

  // Returns the view's intervals, with the full extents of the axes if `whole`.
  InstanceBox Box(const Panel& panel, bool whole) const {
    const PictureView& view = panel.shown.view;
    InstanceBox box{.statement = view.statement};
    for (const int64_t value : view.at) box.ranges.push_back({value, value});
    for (size_t a = 0; a < view.axes.size(); ++a) {
      Interval& range = box.ranges[view.axes[a].index()];
      const int64_t extent = StatementOf(panel).iterators[view.axes[a]].extent;
      range = whole ? Interval{0, extent - 1}
                    : Interval{range.lo, std::min(range.lo + view.sizes[a], extent) - 1};
    }
    return box;
  }

  LoopKind KindOf(const TimeEntry& entry) const {
    return entry.loop ? tree_.loops[entry.loop->loop].kind : LoopKind::kSerial;
  }

  Status FindPoints(Panel& panel) const;
  void FindTiles(Panel& panel) const;
  bool IsCoarse(const Panel& panel, size_t entry) const;
  void FindOrder();
  Status FindArrows(size_t from, size_t to);
  bool IsRespected(const PictureArrow& arrow) const;
  bool HasOwnStorage(const InstancePair& pair, const Panel& from, const Panel& to) const;

  const ScheduleTree& tree_;
  const Dependences& dependences_;
  ReductionOrder order_;
  std::vector<Panel> panels_;
  Picture picture_;
};

// Finds all points of the box that satisfy the domain's conditions. Conditions on loaded values
// count as satisfied. Fails if there are no points.
Status PictureBuilder::FindPoints(Panel& panel) const {
  const Statement& statement = StatementOf(panel);
  const std::vector<VarId>& axes = panel.shown.view.axes;
  const InstanceBox& box = panel.shown.box = Box(panel, false);
  const auto add = [&](Key instance) {
    const bool inside = std::ranges::all_of(statement.domain, [&](const IndexExpr& condition) {
      return condition.UsesLoaded() || Evaluate(condition, instance) >= 0;
    });
    if (!inside) return;
    panel.shown.points.push_back({.row = axes.size() > 1 ? instance[axes[0].index()] : 0,
                                  .column = instance[axes.back().index()]});
    panel.times.push_back(panel.line.At(instance));
    panel.point_of.emplace(instance, panel.instances.size());
    panel.instances.push_back(std::move(instance));
  };
  Key instance = panel.shown.view.at;
  const Interval columns = box.ranges[axes.back().index()];
  const Interval rows = axes.size() > 1 ? box.ranges[axes[0].index()] : Interval{0, 0};
  for (int64_t row = rows.lo; row <= rows.hi; ++row) {
    if (axes.size() > 1) instance[axes[0].index()] = row;
    for (int64_t column = columns.lo; column <= columns.hi; ++column) {
      instance[axes.back().index()] = column;
      add(instance);
    }
  }
  if (!panel.shown.points.empty()) return {};
  return Fail(ErrorCode::kInvalidArgument, "statement {} has no instance in the slice drawn",
              statement.name);
}

// Returns whether the entry's value changes at some steps along an axis and not at others.
bool PictureBuilder::IsCoarse(const Panel& panel, size_t entry) const {
  for (const VarId axis : panel.shown.view.axes) {
    bool changes = false, stays = false;
    for (size_t p = 0; p < panel.instances.size(); ++p) {
      Key neighbour = panel.instances[p];
      ++neighbour[axis.index()];
      const auto found = panel.point_of.find(neighbour);
      if (found == panel.point_of.end()) continue;
      const bool same = panel.times[p][entry] == panel.times[found->second][entry];
      (same ? stays : changes) = true;
    }
    if (changes && stays) return true;
  }
  return false;
}

// Finds the tiles. Coarse loops that are directly nested make one level of tiles, unless each tile
// would have one point. Loops whose value does not vary in the slice are ignored.
void PictureBuilder::FindTiles(Panel& panel) const {
  const size_t length = panel.line.entries.size();
  std::vector<size_t> ends;
  bool within = false;
  for (size_t e = 0; e < length; ++e) {
    const bool varies =
        std::ranges::any_of(panel.times, [&](const Key& t) { return t[e] != panel.times[0][e]; });
    if (!varies) continue;
    const bool coarse = IsCoarse(panel, e);
    if (coarse && within) ends.back() = e + 1;
    if (coarse && !within) ends.push_back(e + 1);
    within = coarse;
  }
  for (const size_t end : ends) {
    std::set<Key> keys;
    for (const Key& time : panel.times) keys.emplace(time.begin(), time.begin() + end);
    if (keys.size() == panel.times.size()) continue;
    const std::map<Key, int64_t> numbers = Number(keys);
    ++panel.shown.tile_levels;
    for (size_t p = 0; p < panel.times.size(); ++p) {
      const Key key(panel.times[p].begin(), panel.times[p].begin() + end);
      panel.shown.points[p].tiles.push_back(numbers.at(key));
    }
  }
}

// Takes three parts of each point's time: from the phase to the last wave loop, from the phase to
// the last loop over waves, tasks or threads, and the rest without vector loops. Numbers the
// different values of each part, those of the rest in each task separately.
void PictureBuilder::FindOrder() {
  struct Parts {
    Key wave, task, step;
  };
  std::vector<std::vector<Parts>> all;
  std::set<Key> waves, tasks;
  std::map<Key, std::set<Key>> steps;
  for (const Panel& panel : panels_) {
    size_t wave_end = 1, task_end = 1;  // the phase
    for (size_t e = 0; e < panel.line.entries.size(); ++e) {
      const LoopKind kind = KindOf(panel.line.entries[e]);
      picture_.has_waves |= kind == LoopKind::kWave;
      picture_.has_vectors |= kind == LoopKind::kVector;
      if (kind == LoopKind::kWave) wave_end = e + 1;
      if (kind == LoopKind::kVector || !RunsConcurrently(kind)) continue;
      task_end = e + 1;
      picture_.has_tasks = true;
    }
    task_end = std::max(task_end, wave_end);
    std::vector<Parts>& parts = all.emplace_back();
    for (const Key& time : panel.times) {
      Parts point{Key(time.begin(), time.begin() + wave_end),
                  Key(time.begin(), time.begin() + task_end),
                  {}};
      for (size_t e = task_end; e < time.size(); ++e) {
        if (KindOf(panel.line.entries[e]) != LoopKind::kVector) point.step.push_back(time[e]);
      }
      waves.insert(point.wave);
      tasks.insert(point.task);
      steps[point.task].insert(point.step);
      parts.push_back(std::move(point));
    }
  }
  const std::map<Key, int64_t> wave_numbers = Number(waves), task_numbers = Number(tasks);
  std::map<Key, std::map<Key, int64_t>> step_numbers;
  for (const auto& [task, keys] : steps) step_numbers[task] = Number(keys);
  for (size_t i = 0; i < panels_.size(); ++i) {
    for (size_t p = 0; p < all[i].size(); ++p) {
      const Parts& parts = all[i][p];
      panels_[i].shown.points[p].wave = wave_numbers.at(parts.wave);
      panels_[i].shown.points[p].task = task_numbers.at(parts.task);
      panels_[i].shown.points[p].step = step_numbers.at(parts.task).at(parts.step);
    }
  }
}

// Returns whether the execution order respects the dependence. At the first entry that differs, the
// source must have the lower value, and the entry must not be of a loop whose iterations may run
// together. For additions that may be permuted, the order of the values does not matter, and lanes
// of a vector may run together.
bool PictureBuilder::IsRespected(const PictureArrow& arrow) const {
  const Panel& from = panels_[arrow.from_panel];
  const Key& before = from.times[arrow.from_point];
  const Key& after = panels_[arrow.to_panel].times[arrow.to_point];
  const bool any_order = arrow.type == DependenceType::kReduction && order_ == ReductionOrder::kAny;
  for (size_t e = 0; e < std::min(before.size(), after.size()); ++e) {
    if (before[e] == after[e]) continue;
    const LoopKind kind = KindOf(from.line.entries[e]);
    if (any_order) return kind == LoopKind::kVector || !RunsConcurrently(kind);
    return before[e] < after[e] && !RunsConcurrently(kind);
  }
  return false;
}

// Returns whether the pair is in different runs of a stage, which have separate storage, and is
// related only by reuse of the storage.
bool PictureBuilder::HasOwnStorage(const InstancePair& pair, const Panel& from,
                                   const Panel& to) const {
  if (pair.type != DependenceType::kAnti && pair.type != DependenceType::kOutput) return false;
  const auto stage = from.line.stages.find(pair.tensor);
  if (stage == from.line.stages.end() || !to.line.stages.contains(pair.tensor)) return false;
  const Key before = from.line.At(pair.from), after = to.line.At(pair.to);
  return !std::equal(before.begin(), before.begin() + static_cast<int64_t>(stage->second),
                     after.begin());
}

Status PictureBuilder::FindArrows(size_t from, size_t to) {
  const Panel& source = panels_[from];
  const Panel& target = panels_[to];
  const InstanceBox& sources = source.shown.box;
  TUNEC_ASSIGN(const bool others, HasOtherPairs(dependences_, sources, Box(target, true)));
  picture_.others |= others;
  TUNEC_ASSIGN(const std::vector<InstancePair> pairs,
               PairsBetween(dependences_, sources, target.shown.box, kMostArrows));
  for (const InstancePair& pair : pairs) {
    const auto first = source.point_of.find(pair.from), second = target.point_of.find(pair.to);
    if (first == source.point_of.end() || second == target.point_of.end()) continue;
    if (HasOwnStorage(pair, source, target)) continue;
    PictureArrow arrow{from, first->second, to, second->second, pair.type};
    arrow.respected = IsRespected(arrow);
    picture_.arrows.push_back(arrow);
  }
  if (picture_.arrows.size() <= kMostArrows) return {};
  return Fail(ErrorCode::kResourceLimit, "more than {} arrows: draw fewer points", kMostArrows);
}

}  // namespace

Result<Picture> TakePicture(const ScheduleTree& tree, const Dependences& dependences,
                            const std::vector<PictureView>& views, ReductionOrder order) {
  return PictureBuilder(tree, dependences, views, order).Take();
}

}  // namespace tunec
