#include "tools/terminal/visible_text.h"

#include "db/printable.h"

namespace tunec {

std::string VisibleText(std::string_view text) {
  std::string visible = Printable(text);
  // Printable replaces each byte by one byte, so the positions in both texts agree.
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\t') visible[i] = text[i];
  }
  return visible;
}

}  // namespace tunec
