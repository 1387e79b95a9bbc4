// DLPack's tensor in C, for headers without an #include of DLPack.
#pragma once

#include <string_view>

namespace tunec {

/// Returns the declarations of DLPack's types, which CMakeLists.txt extracts from tunec.h.
std::string_view DlpackText();

}  // namespace tunec
