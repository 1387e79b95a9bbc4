// Functions that check stored texts and make texts storable. A stored text must be UTF-8 without
// zero bytes, because SQLite and JSON may not preserve other texts.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

bool IsStorableText(std::string_view text);

/// Returns `text` with each byte that cannot be stored replaced by `?`.
std::string MakeStorable(std::string_view text);

}  // namespace tunec
