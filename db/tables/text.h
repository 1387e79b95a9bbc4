// What a stored text must be: UTF-8 without zero bytes, so that it survives SQLite and JSON
// unchanged.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

bool IsStorableText(std::string_view text);

/// `text` with each offending byte replaced by `?`: for messages of compilers and kernels.
std::string MakeStorable(std::string_view text);

}  // namespace tunec
