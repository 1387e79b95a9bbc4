// A bundle -> a shared library that has it inside, with the runtime.
//
// The library is a template that was linked when tunec was built (api/shared/), so that making one
// takes no linker: its functions get the model's name in the place of theirs, and the bundle
// becomes its last segment, which the loader maps as it maps the others.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "compiler/bundle/write_bundle.h"
#include "support/error.h"

namespace tunec {

/// What functions of the model in the library of that name begin with: "resnet50" of
/// "out/libresnet50.so". A word of C.
std::string ModelNameOf(const std::filesystem::path& library);

/// Writes the library as WriteBundle does a bundle. `model` is ModelNameOf the path. Errors: kIo;
/// kInvalidArgument for names that are too long; kInternal for a template that is none.
Status WriteLibrary(const std::filesystem::path& path, std::span<const std::byte> library_template,
                    std::string_view model, const BundleParts& bundle);

}  // namespace tunec
