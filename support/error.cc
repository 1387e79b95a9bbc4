#include "support/error.h"

namespace tunec {

std::string Error::Format() const {
  if (!where) return fmt::format("error: {}", message);
  std::string place = where->file;
  if (where->line > 0) place += fmt::format(":{}", where->line);
  if (where->line > 0 && where->column > 0) place += fmt::format(":{}", where->column);
  return fmt::format("{}: error: {}", place, message);
}

}  // namespace tunec
