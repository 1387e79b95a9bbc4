// DLPack's tensor in C, for headers that have to stand alone.
#pragma once

#include <string_view>

namespace tunec {

/// Its declarations as tunec.h has them: CMakeLists.txt takes them from there.
std::string_view DlpackText();

}  // namespace tunec
