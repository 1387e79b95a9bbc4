// Functions that build SVG text for drawings of paths and words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tunec {

struct SvgPoint {
  double x = 0, y = 0;
};

/// Returns a number with at most one decimal: `12`, `12.5`.
std::string SvgNumber(double value);

/// Returns the text with `&`, `<`, `>` and `"` escaped, and without bytes below the space.
std::string SvgEscaped(std::string_view text);

/// The data of a path. One path may have many shapes of one colour, which keeps files small.
class SvgPath {
 public:
  void Move(SvgPoint to) { Add('M', to); }
  void Line(SvgPoint to) { Add('L', to); }
  void Horizontal(double by) { data_ += 'h' + SvgNumber(by); }
  void Rectangle(SvgPoint corner, double width, double height);
  /// Adds a point. With round caps, the point is a disc as wide as the stroke.
  void Dot(SvgPoint at);
  /// Adds an arc between two points. The arc's middle is `bend` to the left of the way to `to`.
  void Arc(SvgPoint from, SvgPoint to, double bend);
  /// Adds the head of an arrow at the end of the arc with the same points and bend.
  void Head(SvgPoint from, SvgPoint to, double bend, double size);

  bool empty() const { return data_.empty(); }
  /// Returns `<path ATTRIBUTES d="..."/>`, or an empty string for an empty path.
  std::string Print(std::string_view attributes) const;

 private:
  void Add(char command, SvgPoint to);
  std::string data_;
};

/// Returns the line `<text x=".." y=".." ATTRIBUTES>TEXT</text>`, with TEXT by SvgEscaped.
std::string SvgText(SvgPoint at, std::string_view text, std::string_view attributes = {});

/// Returns the text of an SVG file with a white background. Its size is rounded up.
std::string SvgFile(double width, double height, std::string_view elements);

}  // namespace tunec
