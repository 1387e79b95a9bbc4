// Tests tunec.hpp with libtunec_runtime.so alone. `test_load_session BUNDLE OTHER` runs BUNDLE, a
// bundle of tiny.graph. OTHER, a bundle for another processor, must be rejected.
#include <algorithm>
#include <array>
#include <cstdio>
#include <tunec/tunec.hpp>

namespace {

bool Fails(bool right, const char* what) {
  if (!right) std::fprintf(stderr, "failed: %s (last error: %s)\n", what, tunec_error_message());
  return !right;
}

int Run(const char* bundle, const char* other) {
  const auto session = tunec::Session::Load(bundle, {.threads = 1});
  if (Fails(session.has_value(), "load")) return 1;
  const std::vector<tunec::Tensor> inputs = session->NewInputs();
  std::ranges::fill(*inputs[0].As<float>(), -1.0F);
  std::ranges::copy(std::array{0.5F, 1.0F, 3.0F}, inputs[1].As<float>()->begin());
  std::ranges::fill(*inputs[2].As<int64_t>(), 10);
  const auto outputs = session->Run(inputs);
  if (Fails(outputs.has_value(), "run")) return 1;
  const std::array<float, 6> expected = {0, 0, 2, 0, 0, 2};
  if (Fails(std::ranges::equal(*(*outputs)[0].As<const float>(), expected), "outputs")) return 1;
  const auto rejected = tunec::Session::Load(other);
  if (Fails(!rejected && rejected.error().status == TUNEC_DEVICE_ERROR, "another processor"))
    return 1;
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return argc == 3 ? Run(argv[1], argv[2]) : 2; }
