// Tables, printed as columns of text or as JSON.
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
enum class Shown : uint8_t { kAlways, kInJson };  // kInJson: for programs alone

/// What people read in a place of a table, and what programs do.
struct Cell {
  using Value = std::variant<std::nullptr_t, bool, int64_t, double, std::string>;

  /// Text that says the same to both.
  Cell(const char* words) : Cell(std::string(words)) {}                          // NOLINT
  Cell(std::string words) : text(std::move(words)), value(std::string(text)) {}  // NOLINT
  Cell(std::string words, Value meant) : text(std::move(words)), value(std::move(meant)) {}

  std::string text;
  Value value;
};
/// "-" and null where there is no number.
Cell Missing();
Cell CountCell(int64_t count);

/// Rows under a header. As text they are padded so that columns line up; widths count UTF-8
/// characters. As JSON they are a list of objects.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    std::string key = {};  // in JSON; empty: the title. Numbers name their unit: best_seconds
    Shown shown = Shown::kAlways;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void AddRow(std::vector<Cell> cells);
  /// A line per row after the header, without trailing blanks.
  std::vector<std::string> Lines() const;
  std::string Print() const;
  nlohmann::ordered_json Json() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// What --json adds to a command: the table, or an object that holds it, on standard output.
enum class OutputForm : uint8_t { kText, kJson };
void PrintJson(const nlohmann::ordered_json& json);

/// The tables of a command that may print several.
class TableReport {
 public:
  explicit TableReport(OutputForm form) : form_(form) {}
  /// As text it is printed at once, and `below` after it. `key` names its rows in JSON.
  void Add(std::string_view key, const TextTable& table, const std::string& below = "");
  /// The same, where people read another text than the table.
  void AddText(std::string_view key, const TextTable& table, const std::string& text);
  /// Prints the object of all tables; nothing as text.
  void Finish() const;

 private:
  OutputForm form_;
  std::vector<std::pair<std::string, TextTable>> tables_;
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
