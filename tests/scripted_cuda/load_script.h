// A function that loads the scripted replacement of libcuda.so.1.
#pragma once

#include <dlfcn.h>

#include <string>

#include "support/check.h"
#include "tests/scripted_cuda/script.h"

namespace tunec::scripted_cuda {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
inline const std::string kLibrary = TUNEC_BINARY_DIR "/lib/libscripted_cuda.so";

/// Loads the library and returns its script, reset to default values. All calls return the same
/// object. Aborts if the library cannot be loaded.
inline Script& NewScript() {
  void* const library = dlopen(kLibrary.c_str(), RTLD_NOW | RTLD_LOCAL);
  TUNEC_CHECK(library != nullptr, "{}", dlerror());
  Script& script = *reinterpret_cast<Script* (*)()>(dlsym(library, kScriptFunction))();
  script = {};
  return script;
}

}  // namespace tunec::scripted_cuda
