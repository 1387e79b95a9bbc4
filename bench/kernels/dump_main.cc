// A program to write the nests of bench_kernels, and the object code of these nests. This serves to
// compare two versions of the code generator (tools/dev replay).
//
//     dump_kernel_nests FOLDER [CPU]
#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "bench/kernels/nests.h"
#include "jit/cpu/detect_cpu.h"
#include "tools/dump_kernel.h"

namespace {

tunec::Status DumpAll(const std::filesystem::path& folder, const std::string& cpu) {
  TUNEC_ASSIGN(const tunec::Target target, tunec::ParseCpu(cpu, 1));
  for (const tunec::bench::KernelBench& bench :
       tunec::bench::KernelBenches(target.host.vector_bits)) {
    TUNEC_ASSIGN(tunec::LoopNest nest, tunec::ParseLoopNest(bench.text, bench.name));
    std::string name = bench.name;
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    const std::string kernel = tunec::DumpName(0, Print(nest));
    TUNEC_RETURN_IF_ERROR(
        tunec::DumpKernel(folder / name, kernel, {.nests = {std::move(nest)}}, target));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: dump_kernel_nests FOLDER [CPU]\n");
    return 2;
  }
  const tunec::Status done = DumpAll(argv[1], argc > 2 ? argv[2] : "native");
  if (!done) fmt::print(stderr, "error: {}\n", done.error().Format());
  return done ? 0 : 1;
}
