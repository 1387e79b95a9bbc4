// DLPack's tensor in C, for headers that are also used if DLPack is not installed.
#pragma once

#include <string_view>

namespace tunec {

/// Returns the declarations of DLPack's types, which CMakeLists.txt extracts from tunec.h.
std::string_view DlpackText();

}  // namespace tunec
