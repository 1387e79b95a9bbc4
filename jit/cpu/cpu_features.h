// Lists of the x86 features of generated code, by LLVM's names.
#pragma once

#include <string_view>

namespace tunec::jit {

/// Features that may change the generated code and that a target lists.
inline constexpr std::string_view kFeaturesThatMatter[] = {
    "avx",        "avx2",       "fma",      "f16c",     "bmi",      "bmi2",       "avxvnni",
    "avx512f",    "avx512bw",   "avx512dq", "avx512vl", "avx512cd", "avx512vbmi", "avx512vnni",
    "avx512bf16", "avx512fp16", "amx-tile", "amx-bf16", "amx-int8", "amx-fp16"};

/// Features that every kernel may use. A machine that lacks one of them is not supported.
inline constexpr std::string_view kFeaturesNeeded[] = {"avx2", "fma", "f16c"};

/// Other features that LLVM may use by itself if the target's processor has them.
inline constexpr std::string_view kFeaturesUsedUnasked[] = {"sse4.2",
                                                            "popcnt",
                                                            "lzcnt",
                                                            "movbe",
                                                            "fma4",
                                                            "xop",
                                                            "tbm",
                                                            "gfni",
                                                            "vpclmulqdq",
                                                            "avxifma",
                                                            "avxneconvert",
                                                            "avxvnniint8",
                                                            "avxvnniint16",
                                                            "avx512ifma",
                                                            "avx512vbmi2",
                                                            "avx512bitalg",
                                                            "avx512vpopcntdq",
                                                            "avx10.1",
                                                            "avx10.2",
                                                            "egpr",
                                                            "push2pop2",
                                                            "ppx",
                                                            "ndd",
                                                            "ccmp",
                                                            "nf",
                                                            "zu"};

}  // namespace tunec::jit
