#include "tools/model_template.h"

// The template is part of the program, so it is always available and has the program's version.
__asm__(
    ".section .rodata.tunec_model_template,\"a\",@progbits\n"
    ".balign 64\n"
    ".hidden tunec_model_template_begin\n"
    ".globl tunec_model_template_begin\n"
    "tunec_model_template_begin:\n"
    ".incbin \"" TUNEC_MODEL_TEMPLATE
    "\"\n"
    ".hidden tunec_model_template_end\n"
    ".globl tunec_model_template_end\n"
    "tunec_model_template_end:\n"
    ".previous\n");
extern "C" [[gnu::visibility("hidden")]] const std::byte tunec_model_template_begin[];
extern "C" [[gnu::visibility("hidden")]] const std::byte tunec_model_template_end[];

namespace tunec {

std::span<const std::byte> ModelTemplate() {
  return {tunec_model_template_begin, tunec_model_template_end};
}

}  // namespace tunec
