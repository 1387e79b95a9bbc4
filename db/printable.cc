#include "db/printable.h"

#include <algorithm>

#include "db/tables/text.h"

namespace tunec {

std::string Printable(std::string_view text) {
  std::string printable = MakeStorable(text);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  std::ranges::replace_if(printable, is_control, '?');
  // U+0080 to U+009F, among them the one that begins control sequences, are two bytes in UTF-8.
  for (size_t i = 0; i + 1 < printable.size(); ++i) {
    const auto second = static_cast<unsigned char>(printable[i + 1]);
    if (printable[i] == '\xc2' && second < 0xa0) printable[i] = printable[i + 1] = '?';
  }
  return printable;
}

}  // namespace tunec
