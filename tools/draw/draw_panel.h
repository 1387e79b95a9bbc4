// A class that draws one panel of a picture of iteration spaces.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "polyhedral/explain/picture.h"
#include "tools/draw/svg.h"

namespace tunec {

/// The layers of a picture that are drawn besides its points.
struct IterationLayers {
  std::array<bool, kDependenceTypes> arrows{};
  bool tiles = true;
  bool order = true;
  bool tasks = true;  // colours of tasks
};

/// Colours of waves, or of tasks if there are no waves. They are pale, so that arrows and numbers
/// stay legible. Consecutive colours differ in hue; after the last one, the colours repeat.
inline constexpr std::array<const char*, 8> kTaskColours = {
    "#cfe3f7", "#fde2c8", "#d7f0d2", "#f6d5df", "#e4dbf5", "#f5efc4", "#d2eeee", "#e8ddd0"};
inline constexpr double kPictureMargin = 44;  // left of the points, for labels of the axes
inline constexpr double kPictureLine = 18;    // height of a text line

/// A drawing of a slice of a statement's iteration space. It has points on a grid and the requested
/// layers except arrows. Requires: the constructor's arguments outlive the drawing.
class PanelDrawing {
 public:
  PanelDrawing(const ScheduleTree& tree, const Picture& picture, const PicturePanel& panel,
               const IterationLayers& layers);

  void SetCorner(SvgPoint corner) { corner_ = corner; }
  double Width() const;
  double Height() const;
  SvgPoint Centre(const PicturePoint& point) const {
    return {Left(point.column) + pitch_ / 2, Top(point.row) + pitch_ / 2};
  }
  double Pitch() const { return pitch_; }
  double Radius() const;                         // radius of a point
  bool IsNumbered() const { return numbered_; }  // if false, a line shows the order

  std::string Below() const { return Fills() + Lanes() + Outlines() + OrderLine(); }
  std::string Above() const { return Points() + Labels(); }

 private:
  int64_t Rows() const { return rows_.hi - rows_.lo + 1; }
  int64_t Columns() const { return columns_.hi - columns_.lo + 1; }
  double Left(int64_t column) const {
    return corner_.x + kPictureMargin + static_cast<double>(column - columns_.lo) * pitch_;
  }
  double Top(int64_t row) const;
  const Statement& statement() const { return tree_.statements[panel_.view.statement]; }

  std::string Title() const;
  std::vector<std::string> Lines() const;
  std::string Fills() const;
  std::string Lanes() const;
  std::string Outlines() const;
  std::string OrderLine() const;
  std::string Points() const;
  std::string Labels() const;
  std::vector<const PicturePoint*> InOrder() const;

  const ScheduleTree& tree_;
  const Picture& picture_;
  const PicturePanel& panel_;
  const IterationLayers& layers_;
  SvgPoint corner_;
  Interval rows_, columns_;
  double pitch_ = 0;
  bool numbered_ = false;
};

}  // namespace tunec
