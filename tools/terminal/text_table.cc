#include "tools/terminal/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "support/check.h"
#include "tools/terminal/visible_text.h"

namespace tunec {
namespace {

/// Returns the number of UTF-8 characters: continuation bytes are not counted.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

struct Unit {
  double size;
  const char* name;
};

/// Returns the value in the largest unit in which its magnitude is at least 0.9995, else in the
/// last unit. The text has at least three digits, but one for 0.
std::string InUnits(double value, std::span<const Unit> units) {
  if (value == 0) return fmt::format("0 {}", units.back().name);
  for (const Unit& unit : units) {
    const double number = value / unit.size;
    if (std::abs(number) < 0.9995 && &unit != &units.back()) continue;
    const int decimals = std::abs(number) < 9.995 ? 2 : std::abs(number) < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", number, decimals, unit.name);
  }
  return {};
}

}  // namespace

Cell Missing() { return {"-", nullptr}; }

Cell CountCell(int64_t count) { return {fmt::format("{}", count), count}; }

void TextTable::AddRow(std::vector<Cell> cells) {
  TUNEC_CHECK(cells.size() == columns_.size(), "a row of {} cells in a table of {} columns",
              cells.size(), columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::string> TextTable::Lines() const {
  std::vector<std::vector<std::string>> all(1);
  std::vector<Align> aligns;
  for (const Column& column : columns_) {
    if (column.shown == ColumnVisibility::kInJson) continue;
    all[0].push_back(column.title);
    aligns.push_back(column.align);
  }
  for (const std::vector<Cell>& row : rows_) {
    std::vector<std::string>& texts = all.emplace_back();
    for (size_t c = 0; c < row.size(); ++c) {
      if (columns_[c].shown == ColumnVisibility::kAlways) texts.push_back(VisibleText(row[c].text));
    }
  }
  std::vector<size_t> widths(aligns.size());
  for (const auto& row : all) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], WidthOf(row[c]));
  }
  std::vector<std::string> lines;
  for (const auto& row : all) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string blank(widths[c] - WidthOf(row[c]), ' ');
      if (c > 0) line += "  ";
      line += aligns[c] == Align::kRight ? blank + row[c] : row[c] + blank;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string TextTable::Print() const { return fmt::format("{}\n", fmt::join(Lines(), "\n")); }

nlohmann::ordered_json TextTable::Json() const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::vector<Cell>& row : rows_) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t c = 0; c < row.size(); ++c) {
      const Column& column = columns_[c];
      std::visit(
          [&](const auto& value) {
            object[column.key.empty() ? column.title : column.key] = value;
          },
          row[c].value);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

void PrintJson(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void TableReport::Add(std::string_view key, const TextTable& table, const std::string& below) {
  AddText(key, table, table.Print() + below);
}

void TableReport::AddText(std::string_view key, const TextTable& table, const std::string& text) {
  if (form_ == OutputForm::kJson) {
    tables_.emplace_back(key, table);
  } else {
    fmt::print("{}", text);
  }
}

void TableReport::Finish() const {
  if (form_ != OutputForm::kJson) return;
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [key, table] : tables_) object[key] = table.Json();
  PrintJson(object);
}

std::string DurationText(double seconds) {
  static constexpr std::array kUnits = {Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"},
                                        Unit{1e-9, "ns"}};
  return InUnits(seconds, kUnits);
}

std::string QuantityText(double value) {
  static constexpr std::array kUnits = {Unit{1e12, "T"}, Unit{1e9, "G"}, Unit{1e6, "M"},
                                        Unit{1e3, "k"}, Unit{1, ""}};
  std::string text = InUnits(value, kUnits);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string CountText(int64_t count, std::string_view singular, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", singular);
  if (!plural.empty()) return fmt::format("{} {}", count, plural);
  return fmt::format("{} {}s", count, singular);
}

std::string BytesText(double bytes) {
  static constexpr std::array kUnits = {Unit{1 << 30, "GiB"}, Unit{1 << 20, "MiB"},
                                        Unit{1 << 10, "KiB"}, Unit{1, "B"}};
  return InUnits(bytes, kUnits);
}

std::string Shorten(const std::string& text, size_t width) {
  if (WidthOf(text) <= width || width < 4) return text;
  size_t end = width - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace tunec
