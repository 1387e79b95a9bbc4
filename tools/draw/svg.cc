#include "tools/draw/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tunec {
namespace {

// Returns the control point of a quadratic curve whose middle is `bend` beside the straight line.
SvgPoint ControlOf(SvgPoint from, SvgPoint to, double bend) {
  const double x = to.x - from.x, y = to.y - from.y;
  const double length = std::max(std::hypot(x, y), 1e-6);
  return {(from.x + to.x) / 2 + 2 * bend * y / length, (from.y + to.y) / 2 - 2 * bend * x / length};
}

}  // namespace

std::string SvgNumber(double value) {
  const auto tenths = std::lround(10 * value);
  if (tenths % 10 == 0) return fmt::format("{}", tenths / 10);
  return fmt::format("{}{}.{}", tenths < 0 ? "-" : "", std::abs(tenths) / 10,
                     std::abs(tenths) % 10);
}

std::string SvgEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= ' ') escaped += c;
    }
  }
  return escaped;
}

void SvgPath::Add(char command, SvgPoint to) {
  data_ += fmt::format("{}{} {}", command, SvgNumber(to.x), SvgNumber(to.y));
}

void SvgPath::Rectangle(SvgPoint corner, double width, double height) {
  Move(corner);
  data_ += fmt::format("h{}v{}h{}z", SvgNumber(width), SvgNumber(height), SvgNumber(-width));
}

void SvgPath::Dot(SvgPoint at) {
  Move(at);
  Horizontal(0);
}

void SvgPath::Arc(SvgPoint from, SvgPoint to, double bend) {
  Move(from);
  if (bend == 0) return Line(to);
  const SvgPoint control = ControlOf(from, to, bend);
  Add('Q', control);
  data_ += fmt::format(" {} {}", SvgNumber(to.x), SvgNumber(to.y));
}

void SvgPath::Head(SvgPoint from, SvgPoint to, double bend, double size) {
  const SvgPoint control = ControlOf(from, to, bend);
  const double arriving = std::atan2(to.y - control.y, to.x - control.x);
  constexpr double kSpread = 0.45;  // radians on each side
  const auto barb = [&](double angle) {
    return SvgPoint{to.x - size * std::cos(angle), to.y - size * std::sin(angle)};
  };
  Move(barb(arriving - kSpread));
  Line(to);
  Line(barb(arriving + kSpread));
}

std::string SvgPath::Print(std::string_view attributes) const {
  return empty() ? std::string() : fmt::format("<path {} d=\"{}\"/>\n", attributes, data_);
}

std::string SvgText(SvgPoint at, std::string_view text, std::string_view attributes) {
  return fmt::format("<text x=\"{}\" y=\"{}\"{}{}>{}</text>\n", SvgNumber(at.x), SvgNumber(at.y),
                     attributes.empty() ? "" : " ", attributes, SvgEscaped(text));
}

std::string SvgFile(double width, double height, std::string_view elements) {
  const std::string w = SvgNumber(std::ceil(width)), h = SvgNumber(std::ceil(height));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n{2}</svg>\n",
      w, h, elements);
}

}  // namespace tunec
