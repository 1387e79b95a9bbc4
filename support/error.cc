#include "support/error.h"

namespace tunec {

std::string Error::Format() const {
  if (!where) return fmt::format("error: {}", message);
  std::string location = where->file;
  if (where->line > 0) location += fmt::format(":{}", where->line);
  if (where->line > 0 && where->column > 0) location += fmt::format(":{}", where->column);
  return fmt::format("{}: error: {}", location, message);
}

}  // namespace tunec
