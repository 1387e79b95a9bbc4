// Functions of a library that holds one model. `tunec build --shared` writes a copy of this library
// that contains the model's bundle. In the copy, the model's name replaces the placeholder in the
// names of the functions below. The library exports only these functions and contains the runtime.
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "api/include/tunec/tunec.h"
#include "api/run/guarded.h"
#include "api/run/load_options.h"
#include "runtime/bundle/format.h"

// The section with the highest addresses in the library. It has a separate segment, because
// `tunec build` replaces the content with the bundle, which is larger.
__asm__(
    ".section .tunec_bundle,\"a\",@progbits\n"
    ".balign 4096\n"
    ".globl tunec_bundle_begin\n"
    ".hidden tunec_bundle_begin\n"
    "tunec_bundle_begin:\n"
    ".zero 64\n"
    ".previous\n");
// The assembly above defines the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" [[gnu::visibility("hidden")]] const std::byte tunec_bundle_begin[];

// TUNEC_NAMED begins a symbol with a placeholder, which is as long as the longest model name.
// compiler/bundle/write_library.cc replaces the placeholder.
#define TUNEC_X16 "xxxxxxxxxxxxxxxx"
#define TUNEC_NAMED(function)                                                             \
  __asm__("tunec_model_name_" TUNEC_X16 TUNEC_X16 TUNEC_X16 TUNEC_X16 TUNEC_X16 TUNEC_X16 \
          "_" function)

namespace tunec {
namespace {

bundle::BundleBytes OwnBundle() {
  bundle::Header header;
  std::memcpy(&header, tunec_bundle_begin, sizeof header);
  return {.bytes = {tunec_bundle_begin, header.file_bytes}, .owner = nullptr};
}

}  // namespace
}  // namespace tunec

extern "C" {

// These names are in the style of the C interface. NOLINTBEGIN(readability-identifier-naming)
TUNEC_API int model_create(const tunec_load_options* options, tunec_executable** model)
    TUNEC_NAMED("create");
TUNEC_API int model_run(tunec_executable* model, DLTensor* const* inputs, DLTensor* const* outputs)
    TUNEC_NAMED("run");
TUNEC_API int model_output_shapes(tunec_executable* model, const DLTensor* const* inputs,
                                  int64_t* const* shapes) TUNEC_NAMED("output_shapes");
TUNEC_API void model_release(tunec_executable* model) TUNEC_NAMED("release");
TUNEC_API const char* model_error() TUNEC_NAMED("error");
// NOLINTEND(readability-identifier-naming)

int model_create(const tunec_load_options* options, tunec_executable** model) {
  return tunec::Guarded([&]() -> tunec::Status {
    if (model == nullptr) return tunec::Fail(tunec::ErrorCode::kInvalidArgument, "model is null");
    *model = nullptr;
    TUNEC_ASSIGN(const tunec::BundleOptions known, tunec::OptionsOf(options));
    TUNEC_ASSIGN(tunec::LoadedBundle bundle, tunec::LoadBundle(tunec::OwnBundle(), known));
    *model = tunec::ExecutableOf(std::move(bundle)).release();
    return {};
  });
}

int model_run(tunec_executable* model, DLTensor* const* inputs, DLTensor* const* outputs) {
  return tunec_run(model, inputs, outputs);
}

int model_output_shapes(tunec_executable* model, const DLTensor* const* inputs,
                        int64_t* const* shapes) {
  return tunec_output_shapes(model, inputs, shapes);
}

void model_release(tunec_executable* model) { tunec_release(model); }

const char* model_error() { return tunec_error_message(); }

}  // extern "C"
