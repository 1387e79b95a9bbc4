#include "tools/draw/draw_panel.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace tunec {
namespace {

constexpr double kPanelWidth = 640;
constexpr double kGridTop = kPictureMargin + kPictureLine;
constexpr double kCharacter = 6.8;  // width in the monospaced lines
constexpr size_t kMostNumbered = 400;
constexpr double kWidestNumbered = 11;  // radius

}  // namespace

PanelDrawing::PanelDrawing(const ScheduleTree& tree, const Picture& picture,
                           const PicturePanel& panel, const IterationLayers& layers)
    : tree_(tree), picture_(picture), panel_(panel), layers_(layers) {
  const auto range = [&](int64_t PicturePoint::*coordinate) {
    const auto [least, most] = std::ranges::minmax(panel.points, {}, coordinate);
    return Interval{least.*coordinate, most.*coordinate};
  };
  rows_ = range(&PicturePoint::row);
  columns_ = range(&PicturePoint::column);
  pitch_ = std::clamp(kPanelWidth / static_cast<double>(std::max(Rows(), Columns())), 18.0, 44.0);
  numbered_ = layers.order && pitch_ >= 22 && panel.points.size() <= kMostNumbered;
}

double PanelDrawing::Width() const {
  double width = 2 * kPictureMargin + static_cast<double>(Columns()) * pitch_;
  for (const std::string& line : Lines()) {
    width = std::max(width, kPictureMargin + kCharacter * static_cast<double>(line.size()));
  }
  return width;
}

double PanelDrawing::Height() const {
  return kGridTop + static_cast<double>(Rows()) * pitch_ +
         kPictureLine * (1 + static_cast<double>(Lines().size()));
}

double PanelDrawing::Radius() const {
  return numbered_ ? std::min(kWidestNumbered, 0.33 * pitch_) : std::max(2.0, 0.09 * pitch_);
}

double PanelDrawing::Top(int64_t row) const {
  return corner_.y + kGridTop + static_cast<double>(row - rows_.lo) * pitch_;
}

// Returns a title such as `A[t, i, j] at t = 3`.
std::string PanelDrawing::Title() const {
  std::string fixed;
  const Iterators& iterators = statement().iterators;
  for (const VarId i : iterators.ids()) {
    if (std::ranges::find(panel_.view.axes, i) != panel_.view.axes.end()) continue;
    fixed += fmt::format("{} {} = {}", fixed.empty() ? " at" : ",", iterators[i].name,
                         panel_.view.at[i.index()]);
  }
  return fmt::format("{}[{}]{}", statement().name, fmt::join(statement().IteratorNames(), ", "),
                     fixed);
}

// Returns the lines of text under the panel: the cropped ranges, and the loops.
std::vector<std::string> PanelDrawing::Lines() const {
  std::vector<std::string> lines;
  for (const VarId axis : panel_.view.axes) {
    const Iterator& iterator = statement().iterators[axis];
    const Interval range = panel_.box.ranges[axis.index()];
    if (range == Interval{0, iterator.extent - 1}) continue;
    lines.push_back(fmt::format("cropped: {} in {} .. {} of 0 .. {}", iterator.name, range.lo,
                                range.hi + 1, iterator.extent));
  }
  std::string indent;
  for (const VarId loop : LoopsAround(tree_.root, panel_.view.statement)) {
    lines.push_back(indent + PrintLoop(tree_, loop));
    indent += "  ";
  }
  return lines;
}

// Fills squares with the colour of the wave, or of the task if there are no waves. Adjacent squares
// of one row and colour are one shape.
std::string PanelDrawing::Fills() const {
  if (!layers_.tasks || (!picture_.has_waves && !picture_.has_tasks)) return {};
  std::array<SvgPath, kTaskColours.size()> paths;
  const auto colour = [&](const PicturePoint& point) {
    return static_cast<size_t>(picture_.has_waves ? point.wave : point.task) % kTaskColours.size();
  };
  const std::vector<PicturePoint>& points = panel_.points;
  for (size_t first = 0; first < points.size();) {
    size_t end = first + 1;
    while (end < points.size() && points[end].row == points[first].row &&
           points[end].column == points[end - 1].column + 1 &&
           colour(points[end]) == colour(points[first])) {
      ++end;
    }
    paths[colour(points[first])].Rectangle({Left(points[first].column), Top(points[first].row)},
                                           static_cast<double>(end - first) * pitch_, pitch_);
    first = end;
  }
  std::string text;
  for (size_t c = 0; c < paths.size(); ++c)
    text += paths[c].Print(fmt::format("fill=\"{}\"", kTaskColours[c]));
  return text;
}

std::vector<const PicturePoint*> PanelDrawing::InOrder() const {
  std::vector<const PicturePoint*> ordered;
  for (const PicturePoint& point : panel_.points) ordered.push_back(&point);
  std::ranges::stable_sort(ordered, [](const PicturePoint* a, const PicturePoint* b) {
    return std::tie(a->task, a->step) < std::tie(b->task, b->step);
  });
  return ordered;
}

// Draws a bar through the points that are lanes of one vector.
std::string PanelDrawing::Lanes() const {
  if (!layers_.order || !picture_.has_vectors) return {};
  SvgPath bars;
  const std::vector<const PicturePoint*> ordered = InOrder();
  for (size_t i = 1; i < ordered.size(); ++i) {
    const PicturePoint &before = *ordered[i - 1], &here = *ordered[i];
    if (before.task != here.task || before.step != here.step) continue;
    bars.Move(Centre(before));
    bars.Line(Centre(here));
  }
  return bars.Print("fill=\"none\" stroke=\"#a5a5a5\" stroke-width=\"4\"");
}

// Draws lines between adjacent points of different tiles, and around the drawn points. Lines of
// inner levels are thinner than those of the outermost level.
std::string PanelDrawing::Outlines() const {
  if (!layers_.tiles) return {};
  std::map<std::pair<int64_t, int64_t>, const PicturePoint*> at;
  for (const PicturePoint& point : panel_.points) at[{point.row, point.column}] = &point;
  std::string text;
  for (size_t level = panel_.tile_levels; level-- > 0;) {
    const auto tile = [&](int64_t row, int64_t column) {
      const auto found = at.find({row, column});
      return found == at.end() ? int64_t{-1} : found->second->tiles[level];
    };
    SvgPath path;
    // Draws a line along each part of one grid line for which `differs` returns true.
    const auto trace = [&](Interval along, const auto& differs, const auto& corner) {
      for (int64_t first = along.lo; first <= along.hi;) {
        int64_t end = first;
        while (end <= along.hi && differs(end)) ++end;
        if (end > first) {
          path.Move(corner(first));
          path.Line(corner(end));
        }
        first = std::max(end, first) + 1;
      }
    };
    for (int64_t row = rows_.lo; row <= rows_.hi + 1; ++row) {
      trace(
          columns_, [&](int64_t c) { return tile(row - 1, c) != tile(row, c); },
          [&](int64_t c) {
            return SvgPoint{Left(c), Top(row)};
          });
    }
    for (int64_t column = columns_.lo; column <= columns_.hi + 1; ++column) {
      trace(
          rows_, [&](int64_t r) { return tile(r, column - 1) != tile(r, column); },
          [&](int64_t r) {
            return SvgPoint{Left(column), Top(r)};
          });
    }
    text += path.Print(
        fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"square\"",
                    level == 0 ? "#222" : "#777", level == 0 ? "2" : "1"));
  }
  return text;
}

// Draws a line through the points of each task if the order is shown without numbers.
std::string PanelDrawing::OrderLine() const {
  if (!layers_.order || numbered_) return {};
  SvgPath line;
  const PicturePoint* before = nullptr;
  for (const PicturePoint* point : InOrder()) {
    if (before == nullptr || before->task != point->task) {
      line.Move(Centre(*point));
    } else {
      line.Line(Centre(*point));
    }
    before = point;
  }
  return line.Print("fill=\"none\" stroke=\"#3a8f3a\" stroke-width=\"0.7\"");
}

std::string PanelDrawing::Points() const {
  SvgPath dots;
  for (const PicturePoint& point : panel_.points) dots.Dot(Centre(point));
  const auto stroke = [](const char* colour, double width) {
    return fmt::format("stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\"", colour,
                       SvgNumber(width));
  };
  if (!numbered_) return dots.Print(stroke("#222", 2 * Radius()));
  std::string text =
      dots.Print(stroke("#222", 2 * Radius())) + dots.Print(stroke("#fff", 2 * Radius() - 1.6));
  text += fmt::format("<g font-size=\"{}\" text-anchor=\"middle\">\n",
                      SvgNumber(std::min(10.0, 0.95 * Radius())));
  for (const PicturePoint& point : panel_.points) {
    const SvgPoint centre = Centre(point);
    text += SvgText({centre.x, centre.y + 0.33 * Radius()}, fmt::format("{}", point.step));
  }
  return text + "</g>\n";
}

std::string PanelDrawing::Labels() const {
  const Iterators& iterators = statement().iterators;
  std::string text = SvgText({corner_.x + kPictureMargin, corner_.y + kPictureLine}, Title(),
                             "font-weight=\"bold\"");
  const auto step = [](int64_t count) { return count <= 16 ? 1 : count <= 32 ? 2 : 5; };
  const double top = Top(rows_.lo), left = Left(columns_.lo);
  text += "<g font-size=\"10\" fill=\"#555\" text-anchor=\"middle\">\n";
  for (int64_t c = columns_.lo; c <= columns_.hi; c += step(Columns()))
    text += SvgText({Left(c) + pitch_ / 2, top - 5}, fmt::format("{}", c));
  const bool has_rows = panel_.view.axes.size() > 1;
  for (int64_t r = rows_.lo; has_rows && r <= rows_.hi; r += step(Rows()))
    text += SvgText({left - 12, Top(r) + pitch_ / 2 + 3.5}, fmt::format("{}", r));
  text += "</g>\n";
  text += SvgText({left, top - 19}, iterators[panel_.view.axes.back()].name + " \u2192",
                  "font-style=\"italic\"");
  if (has_rows) {
    text += SvgText({corner_.x + 6, top + 12}, iterators[panel_.view.axes[0]].name + " \u2193",
                    "font-style=\"italic\"");
  }
  double y = Top(rows_.hi + 1) + kPictureLine + 4;
  for (const std::string& line : Lines()) {
    text += SvgText({left, y}, line,
                    "font-family=\"monospace\" font-size=\"11\" xml:space=\"preserve\"");
    y += kPictureLine;
  }
  return text;
}

}  // namespace tunec
