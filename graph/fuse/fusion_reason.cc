#include "graph/fuse/fusion_reason.h"

namespace tunec {
namespace {

struct ReasonRow {
  std::string_view text;
  bool fused;
};

constexpr ReasonRow kRows[] = {
#define TUNEC_FUSED(name, phrase) {"fused: " phrase, true},
#define TUNEC_APART(name, phrase) {"not fused: " phrase, false},
#define TUNEC_VIEW(name, phrase) {"no kernel: " phrase, false},
    TUNEC_FUSION_REASONS(TUNEC_FUSED, TUNEC_APART, TUNEC_VIEW)
#undef TUNEC_FUSED
#undef TUNEC_APART
#undef TUNEC_VIEW
};

}  // namespace

std::string_view Describe(FusionReason reason) { return kRows[static_cast<size_t>(reason)].text; }

bool IsFused(FusionReason reason) { return kRows[static_cast<size_t>(reason)].fused; }

}  // namespace tunec
