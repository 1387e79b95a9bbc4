// Columns of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tunec {

enum class Align : uint8_t { kLeft, kRight };

/// Rows under a header, padded so that columns line up. Widths count UTF-8 characters.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void AddRow(std::vector<std::string> cells);
  /// A line per row after the header, without trailing blanks.
  std::vector<std::string> Lines() const;
  std::string Print() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "1.23 ms": three digits and a unit from s to ns.
std::string DurationText(double seconds);
/// "180 G": three digits and a prefix, for units of a second.
std::string QuantityText(double value);
/// "1 kernel", "3 kernels"; without `plural`, an s is appended.
std::string CountText(int64_t count, std::string_view singular, std::string_view plural = "");
/// "12.5 MiB"
std::string BytesText(double bytes);
/// At most `width` characters; a longer text ends in "...".
std::string Shorten(const std::string& text, size_t width);

}  // namespace tunec
