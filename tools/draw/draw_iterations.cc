#include "tools/draw/draw_iterations.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

constexpr double kSwatch = 34;       // width of a legend's swatch
constexpr double kLegendText = 6.8;  // width of a character

struct ArrowStyle {
  const char* attributes;
  const char* meaning;
  double width = 1.1;
};

// Arrow styles by DependenceType. Dashes distinguish them for readers who do not see the colours.
constexpr std::array<ArrowStyle, kDependenceTypes> kArrows = {{
    {"stroke=\"#1553b5\"", "flow dependence: the target reads what the source wrote"},
    {"stroke=\"#666\" stroke-dasharray=\"1.5 2\"",
     "reduction: both add to one element, in any order unless sums are to be added as written"},
    {"stroke=\"#c25e00\" stroke-dasharray=\"5 2\"",
     "anti dependence: the target overwrites what the source read"},
    {"stroke=\"#7b2d9b\" stroke-dasharray=\"7 2 1 2\"",
     "output dependence: the target overwrites what the source wrote"},
}};
constexpr ArrowStyle kViolated = {"stroke=\"#d40000\"", "violated: not in the order of execution",
                                  1.8};

// The arrows of one style: shafts, which may be dashed, and heads.
class ArrowPaths {
 public:
  void Add(SvgPoint from, SvgPoint to, double bend, double head) {
    shafts_.Arc(from, to, bend);
    heads_.Head(from, to, bend, head);
  }
  std::string Print(const ArrowStyle& style) const {
    const std::string stroke = fmt::format("fill=\"none\" stroke-width=\"{}\" {}",
                                           SvgNumber(style.width), style.attributes);
    return shafts_.Print(stroke) + heads_.Print(stroke.substr(0, stroke.find(" stroke-dasharray")));
  }

 private:
  SvgPath shafts_, heads_;
};

class IterationDrawing {
 public:
  IterationDrawing(const ScheduleTree& tree, const Picture& picture, const IterationLayers& layers)
      : picture_(picture), layers_(layers) {
    for (const PicturePanel& panel : picture.panels)
      panels_.emplace_back(tree, picture, panel, layers);
  }

  std::string Draw() {
    double width = 0, height = 0;
    for (PanelDrawing& panel : panels_) {
      panel.SetCorner({width, 0});
      width += panel.Width();
      height = std::max(height, panel.Height());
    }
    std::string text;
    for (const PanelDrawing& panel : panels_) text += panel.Below();
    text += Arrows();
    for (const PanelDrawing& panel : panels_) text += panel.Above();
    y_ = height + 8;
    width_ = width;
    text += Legend();
    return SvgFile(width_, y_ + 4, text);
  }

 private:
  bool IsDrawn(const PictureArrow& arrow) const {
    return layers_.arrows[static_cast<size_t>(arrow.type)];
  }
  std::string Arrows() const;
  std::string Legend();
  std::string Item(std::string_view swatch, std::string_view meaning,
                   double swatch_width = kSwatch);
  std::string ArrowItem(const ArrowStyle& style);
  std::string Colours();

  const Picture& picture_;
  const IterationLayers& layers_;
  std::vector<PanelDrawing> panels_;
  double y_ = 0, width_ = 0;  // extent of the legend so far
};

// Returns the arrows of the requested layers. Arrows that would cross other positions of the grid
// are bent. Arrows between panels are bent, and faint unless they are violated.
std::string IterationDrawing::Arrows() const {
  std::array<ArrowPaths, kArrows.size()> within, between;
  ArrowPaths violated;
  for (const PictureArrow& arrow : picture_.arrows) {
    if (!IsDrawn(arrow)) continue;
    const PanelDrawing &from = panels_[arrow.from_panel], &to = panels_[arrow.to_panel];
    const PicturePoint& source = picture_.panels[arrow.from_panel].points[arrow.from_point];
    const PicturePoint& target = picture_.panels[arrow.to_panel].points[arrow.to_point];
    SvgPoint tail = from.Centre(source), head = to.Centre(target);
    const double length = std::hypot(head.x - tail.x, head.y - tail.y);
    const SvgPoint way{(head.x - tail.x) / length, (head.y - tail.y) / length};
    tail = {tail.x + way.x * (from.Radius() + 0.5), tail.y + way.y * (from.Radius() + 0.5)};
    head = {head.x - way.x * (to.Radius() + 1), head.y - way.y * (to.Radius() + 1)};
    const bool inside = arrow.from_panel == arrow.to_panel;
    const bool over =
        inside && std::gcd(target.row - source.row, target.column - source.column) > 1;
    const double bend = inside ? (over ? 0.3 : 0) * from.Pitch() : 0.08 * length;
    const auto type = static_cast<size_t>(arrow.type);
    ArrowPaths& path = !arrow.respected ? violated : inside ? within[type] : between[type];
    path.Add(tail, head, bend, 0.1 * from.Pitch() + 2);
  }
  std::string text, faint;
  for (size_t type = within.size(); type-- > 0;) {
    text += within[type].Print(kArrows[type]);
    faint += between[type].Print(kArrows[type]);
  }
  if (!faint.empty()) faint = "<g stroke-opacity=\"0.5\">\n" + faint + "</g>\n";
  return faint + text + violated.Print(kViolated);
}

// Returns the next line of the legend, and extends `y_` and `width_` by this line. The swatch
// has x from 0 to `swatch_width`.
std::string IterationDrawing::Item(std::string_view swatch, std::string_view meaning,
                                   double swatch_width) {
  y_ += kPictureLine;
  const double left = kPictureMargin + swatch_width + 8;
  width_ = std::max(width_, left + kLegendText * static_cast<double>(meaning.size()));
  return fmt::format("<g transform=\"translate({} {})\">{}</g>\n", SvgNumber(kPictureMargin),
                     SvgNumber(y_ - 4), swatch) +
         SvgText({left, y_}, meaning);
}

std::string IterationDrawing::ArrowItem(const ArrowStyle& style) {
  ArrowPaths path;
  path.Add({2, 0}, {32, 0}, 0, 6);
  return Item(path.Print(style), style.meaning);
}

std::string IterationDrawing::Colours() {
  int64_t count = 0;
  for (const PicturePanel& panel : picture_.panels) {
    for (const PicturePoint& point : panel.points)
      count = std::max(count, (picture_.has_waves ? point.wave : point.task) + 1);
  }
  const size_t shown = std::min(static_cast<size_t>(count), kTaskColours.size());
  constexpr double kSquare = 17;
  std::string swatches, numbers;
  for (size_t c = 0; c < shown; ++c) {
    SvgPath square;
    const double left = static_cast<double>(c) * kSquare;
    square.Rectangle({left, -9}, kSquare, 14);
    swatches += square.Print(fmt::format("fill=\"{}\"", kTaskColours[c]));
    numbers += SvgText({left + kSquare / 2, 2}, fmt::format("{}", c),
                       "font-size=\"10\" text-anchor=\"middle\"");
  }
  const std::string meaning =
      picture_.has_waves
          ? CountText(count, "wave") + ", in this order; tasks of one wave may run at the same time"
          : CountText(count, "task") + (count > 1 ? ", which may run at the same time" : "");
  return Item(swatches + numbers, meaning, std::max(kSwatch, kSquare * static_cast<double>(shown)));
}

std::string IterationDrawing::Legend() {
  std::string text;
  std::array<bool, kArrows.size()> types{};
  bool violated = false;
  for (const PictureArrow& arrow : picture_.arrows) {
    types[static_cast<size_t>(arrow.type)] |= IsDrawn(arrow) && arrow.respected;
    violated |= IsDrawn(arrow) && !arrow.respected;
  }
  for (size_t type = 0; type < types.size(); ++type) {
    if (types[type]) text += ArrowItem(kArrows[type]);
  }
  if (violated) text += ArrowItem(kViolated);
  if (picture_.others && std::ranges::find(layers_.arrows, true) != layers_.arrows.end())
    text += Item("", "dependences that leave the slice are not drawn");
  const auto any = [&](auto predicate) { return std::ranges::any_of(picture_.panels, predicate); };
  if (layers_.tiles && any([](const PicturePanel& panel) { return panel.tile_levels > 0; })) {
    SvgPath square;
    square.Rectangle({9, -7}, 14, 10);
    text += Item(square.Print("fill=\"none\" stroke=\"#222\" stroke-width=\"2\""), "tiles");
  }
  if (layers_.tasks && (picture_.has_waves || picture_.has_tasks)) text += Colours();
  if (!layers_.order) return text;
  const std::string within = picture_.has_tasks   ? " within a task"
                             : panels_.size() > 1 ? " within a phase"
                                                  : "";
  if (std::ranges::any_of(panels_, &PanelDrawing::IsNumbered))
    text += Item("", "numbers: order of execution" + within);
  if (!std::ranges::all_of(panels_, &PanelDrawing::IsNumbered)) {
    SvgPath line;
    line.Move({2, -2});
    line.Horizontal(30);
    text +=
        Item(line.Print("stroke=\"#3a8f3a\" stroke-width=\"0.7\""), "order of execution" + within);
  }
  if (picture_.has_vectors) {
    SvgPath bar;
    bar.Move({2, -3});
    bar.Horizontal(30);
    text += Item(bar.Print("stroke=\"#a5a5a5\" stroke-width=\"4\""), "lanes of one vector");
  }
  return text;
}

}  // namespace

std::string DrawIterations(const ScheduleTree& tree, const Picture& picture,
                           const IterationLayers& layers) {
  return IterationDrawing(tree, picture, layers).Draw();
}

}  // namespace tunec
