// The table of padding rules by operator: the column `padding` of op_list.h.
#include "graph/pad/padder.h"

namespace tunec::pad {
namespace {

constexpr Rule PadNone = nullptr;

constexpr Rule kRules[] = {
#define TUNEC_RULE(id, name, kind, pattern, operands, cost, repeats, rows, images, range, \
                   reference, lowering, padding)                                          \
  Pad##padding,
    TUNEC_OPS(TUNEC_RULE)
#undef TUNEC_RULE
};

}  // namespace

Rule RuleFor(Op op) { return kRules[static_cast<size_t>(op)]; }

}  // namespace tunec::pad
