#include "tools/draw/draw_roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "support/check.h"
#include "tools/draw/svg.h"

namespace tunec {
namespace {

constexpr double kLeft = 70, kTop = 40, kBottom = 50, kRight = 30;
constexpr double kWidth = 760, kHeight = 440;  // size of the plane
constexpr size_t kLabelled = 8;
constexpr double kLargestDot = 14;  // radius of the dot of a kernel that takes all the time
constexpr double kSmallestDot = 2.5;

// The visible ranges of both axes, as exponents of ten.
struct AxisRanges {
  int left, right, bottom, top;
};

int Least(int known, double value) {
  return std::min(known, static_cast<int>(std::floor(std::log10(value))));
}
int Most(int known, double value) {
  return std::max(known, static_cast<int>(std::ceil(std::log10(value))));
}

// Returns whole decades with all dots, the greatest peak, and the intensities at which peaks and
// bandwidths intersect.
AxisRanges FindAxisRanges(const RooflinePicture& picture) {
  AxisRanges plane{0, 2, 18, 0};
  for (const RooflineLine& peak : picture.peaks) {
    plane.top = Most(plane.top, peak.rate);
    for (const RooflineLine& bandwidth : picture.bandwidths) {
      plane.left = Least(plane.left, peak.rate / bandwidth.rate);
      plane.right = Most(plane.right, peak.rate / bandwidth.rate);
    }
  }
  plane.bottom = plane.top - 2;
  for (const RooflineDot& dot : picture.dots) {
    plane = {Least(plane.left, dot.intensity), Most(plane.right, dot.intensity),
             Least(plane.bottom, dot.rate), Most(plane.top, dot.rate)};
  }
  return plane;
}

class Drawing {
 public:
  explicit Drawing(const RooflinePicture& picture)
      : picture_(picture), plane_(FindAxisRanges(picture)) {}

  std::string Draw() const {
    const std::string elements = SvgText({kLeft, kTop - 18}, picture_.title, "font-size=\"14\"") +
                                 Grid() + Ceilings() + Dots();
    return SvgFile(kLeft + kWidth + kRight, kTop + kHeight + kBottom, elements);
  }

 private:
  double X(double intensity) const {
    return kLeft + kWidth * (std::log10(intensity) - plane_.left) / (plane_.right - plane_.left);
  }
  double Y(double rate) const {
    return kTop + kHeight * (plane_.top - std::log10(rate)) / (plane_.top - plane_.bottom);
  }

  std::string Grid() const {
    SvgPath lines;
    std::string words;
    for (int decade = plane_.left; decade <= plane_.right; ++decade) {
      const double x = X(std::pow(10, decade));
      lines.Move({x, kTop});
      lines.Line({x, kTop + kHeight});
      words += SvgText({x, kTop + kHeight + 16}, fmt::format("{:g}", std::pow(10, decade)),
                       "text-anchor=\"middle\" fill=\"#555\"");
    }
    for (int decade = plane_.bottom; decade <= plane_.top; ++decade) {
      const double y = Y(std::pow(10, decade));
      lines.Move({kLeft, y});
      lines.Line({kLeft + kWidth, y});
      words += SvgText({kLeft - 6, y + 4}, fmt::format("{:g}", std::pow(10, decade - 9)),
                       "text-anchor=\"end\" fill=\"#555\"");
    }
    words += SvgText({kLeft + kWidth / 2, kTop + kHeight + 38}, "operations per byte",
                     "text-anchor=\"middle\"");
    words += SvgText({8, kTop - 18}, "GFLOP/s");
    return lines.Print("stroke=\"#e4e4e4\" fill=\"none\"") + words;
  }

  double GreatestPeak() const {
    return std::ranges::max(picture_.peaks, {}, &RooflineLine::rate).rate;
  }

  std::string Ceilings() const {
    SvgPath lines;
    std::string words;
    const double greatest = std::ranges::max(picture_.bandwidths, {}, &RooflineLine::rate).rate;
    for (const RooflineLine& peak : picture_.peaks) {
      const double corner = X(std::max(peak.rate / greatest, std::pow(10, plane_.left)));
      lines.Move({corner, Y(peak.rate)});
      lines.Line({kLeft + kWidth, Y(peak.rate)});
      words += SvgText({kLeft + kWidth - 4, Y(peak.rate) - 4}, peak.label, "text-anchor=\"end\"");
    }
    for (const RooflineLine& bandwidth : picture_.bandwidths) words += Slope(bandwidth, lines);
    return lines.Print("stroke=\"#333\" stroke-width=\"1.5\" fill=\"none\"") + words;
  }

  // Adds a bandwidth's line from its first visible point to the greatest peak. Returns the label.
  std::string Slope(const RooflineLine& bandwidth, SvgPath& lines) const {
    const double from =
        std::max(std::pow(10, plane_.left), std::pow(10, plane_.bottom) / bandwidth.rate);
    const SvgPoint begin{X(from), Y(from * bandwidth.rate)};
    const SvgPoint end{X(GreatestPeak() / bandwidth.rate), Y(GreatestPeak())};
    lines.Move(begin);
    lines.Line(end);
    const double degrees = std::atan2(end.y - begin.y, end.x - begin.x) * 180 / M_PI;
    const SvgPoint position{begin.x + 8, begin.y + 8 * std::tan(degrees * M_PI / 180) - 4};
    return SvgText(position, bandwidth.label,
                   fmt::format("transform=\"rotate({} {} {})\"", SvgNumber(degrees),
                               SvgNumber(position.x), SvgNumber(position.y)));
  }

  std::string Dots() const {
    std::string circles, words;
    for (size_t i = 0; i < picture_.dots.size(); ++i) {
      const RooflineDot& dot = picture_.dots[i];
      const double radius = std::max(kSmallestDot, kLargestDot * std::sqrt(dot.share));
      const SvgPoint at{X(dot.intensity), Y(dot.rate)};
      circles += fmt::format(
          "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"#2a6fbb\" fill-opacity=\"0.6\">"
          "<title>{}</title></circle>\n",
          SvgNumber(at.x), SvgNumber(at.y), SvgNumber(radius), SvgEscaped(dot.label));
      if (i < kLabelled)
        words += SvgText({at.x + radius + 2, at.y + 4}, dot.label, "font-size=\"10\"");
    }
    return circles + words;
  }

  const RooflinePicture& picture_;
  AxisRanges plane_;
};

}  // namespace

std::string DrawRoofline(const RooflinePicture& picture) {
  TUNEC_CHECK(!picture.peaks.empty() && !picture.bandwidths.empty(), "a roofline of nothing");
  return Drawing(picture).Draw();
}

}  // namespace tunec
