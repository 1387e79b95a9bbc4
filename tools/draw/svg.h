// Pieces of SVG text: just enough for drawings made of paths and words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tunec {

struct SvgPoint {
  double x = 0, y = 0;
};

/// A number with one decimal at most: `12`, `12.5`.
std::string SvgNumber(double value);

/// The text with what is special in XML replaced.
std::string SvgEscaped(std::string_view text);

/// The data of a path, one for many shapes of one colour, which keeps files small.
class SvgPath {
 public:
  void Move(SvgPoint to) { Add('M', to); }
  void Line(SvgPoint to) { Add('L', to); }
  void Horizontal(double by) { data_ += 'h' + SvgNumber(by); }
  void Rectangle(SvgPoint corner, double width, double height);
  /// With round caps, a disc as wide as the stroke.
  void Dot(SvgPoint at);
  /// From one point to another, curved by `bend` to the left of its way.
  void Arc(SvgPoint from, SvgPoint to, double bend);
  /// The head of an arrow that comes along that arc.
  void Head(SvgPoint from, SvgPoint to, double bend, double size);

  bool empty() const { return data_.empty(); }
  /// `<path ATTRIBUTES d="..."/>`, nothing for an empty one.
  std::string Print(std::string_view attributes) const;

 private:
  void Add(char command, SvgPoint to);
  std::string data_;
};

/// `<text x=".." y=".." ATTRIBUTES>TEXT</text>`
std::string SvgText(SvgPoint at, std::string_view text, std::string_view attributes = {});

/// A whole file of this size around elements, on white.
std::string SvgFile(double width, double height, std::string_view elements);

}  // namespace tunec
