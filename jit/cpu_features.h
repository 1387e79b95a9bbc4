// The x86 features that change the code we generate, by LLVM's names.
#pragma once

#include <string_view>

namespace tunec::jit {

inline constexpr std::string_view kFeaturesThatMatter[] = {
    "avx",        "avx2",       "fma",      "f16c",     "bmi",      "bmi2",       "avxvnni",
    "avx512f",    "avx512bw",   "avx512dq", "avx512vl", "avx512cd", "avx512vbmi", "avx512vnni",
    "avx512bf16", "avx512fp16", "amx-tile", "amx-bf16", "amx-int8", "amx-fp16"};

}  // namespace tunec::jit
