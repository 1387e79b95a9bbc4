// Tables that are printed as columns of text or as JSON, and functions that format cells.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tunec {

enum class Align : uint8_t { kLeft, kRight };
enum class ColumnVisibility : uint8_t { kAlways, kInJson };  // kInJson: only in JSON

/// A cell of a table: its text and its value in JSON.
struct Cell {
  using Value = std::variant<std::nullptr_t, bool, int64_t, double, std::string>;

  /// Makes a cell whose text is also its JSON value.
  Cell(const char* words) : Cell(std::string(words)) {}                          // NOLINT
  Cell(std::string words) : text(std::move(words)), value(std::string(text)) {}  // NOLINT
  Cell(std::string words, Value meant) : text(std::move(words)), value(std::move(meant)) {}

  std::string text;
  Value value;
};
/// Returns the cell for a missing value: "-" and null.
Cell Missing();
Cell CountCell(int64_t count);

/// Rows under a header. In text form, cells are padded to aligned columns; widths count UTF-8
/// characters. In JSON, a table is a list of objects.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    std::string key =
        {};  // key in JSON; empty: the title. Keys of numbers contain the unit: best_seconds
    ColumnVisibility shown = ColumnVisibility::kAlways;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row. Requires: one cell per column.
  void AddRow(std::vector<Cell> cells);
  /// Returns the header and one line per row, without trailing blanks.
  std::vector<std::string> Lines() const;
  std::string Print() const;
  nlohmann::ordered_json Json() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// The form of a command's output: text, or JSON with --json.
enum class OutputForm : uint8_t { kText, kJson };
void PrintJson(const nlohmann::ordered_json& json);

/// A report that prints the tables of a command, as text or as one JSON object.
class TableReport {
 public:
  explicit TableReport(OutputForm form) : form_(form) {}
  /// Adds a table. In text form, prints it immediately, followed by `below`. `key` names the table
  /// in JSON.
  void Add(std::string_view key, const TextTable& table, const std::string& below = "");
  /// Adds a table in JSON form. In text form, prints `text` immediately instead of the table.
  void AddText(std::string_view key, const TextTable& table, const std::string& text);
  /// Prints the object of all tables in JSON form; does nothing in text form.
  void Finish() const;

 private:
  OutputForm form_;
  std::vector<std::pair<std::string, TextTable>> tables_;
};

/// Returns a duration with a unit from s to ns, such as "1.23 ms".
std::string DurationText(double seconds);
/// Returns a number with a prefix from T to k or none, but without a unit, such as "180 G".
std::string QuantityText(double value);
/// Returns "1 kernel", "3 kernels". If `plural` is empty, the plural is `singular` with an s.
std::string CountText(int64_t count, std::string_view singular, std::string_view plural = "");
/// Returns a size in binary units, such as "12.5 MiB".
std::string BytesText(double bytes);
/// Returns the text. If `width` is over 3, a longer text is shortened to at most `width`
/// characters, with "..." at the end.
std::string Shorten(const std::string& text, size_t width);

}  // namespace tunec
