#include "tools/terminal/visible_text.h"

#include "db/printable.h"

namespace tunec {

std::string VisibleText(std::string_view text) {
  std::string visible = Printable(text);
  // Each byte was replaced by one.
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\t') visible[i] = text[i];
  }
  return visible;
}

}  // namespace tunec
