// The x86 features of the code we generate, by LLVM's names.
#pragma once

#include <string_view>

namespace tunec::jit {

/// Those that change what is generated, and that a target lists.
inline constexpr std::string_view kFeaturesThatMatter[] = {
    "avx",        "avx2",       "fma",      "f16c",     "bmi",      "bmi2",       "avxvnni",
    "avx512f",    "avx512bw",   "avx512dq", "avx512vl", "avx512cd", "avx512vbmi", "avx512vnni",
    "avx512bf16", "avx512fp16", "amx-tile", "amx-bf16", "amx-int8", "amx-fp16"};

/// Those that every kernel may use, so that no machine without them will do.
inline constexpr std::string_view kFeaturesNeeded[] = {"avx2", "fma", "f16c"};

/// What LLVM uses unasked when a processor has it, besides these.
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
