#include "db/printable.h"

#include <algorithm>

#include "db/tables/text.h"

namespace tunec {

std::string Printable(std::string_view text) {
  std::string printable = MakeStorable(text);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  std::ranges::replace_if(printable, is_control, '?');
  return printable;
}

}  // namespace tunec
