// Main functions of the package's programs, linked into its library. Separate programs would
// contain the whole library again.
#include "tools/tunec_program.h"
#include "tools/worker_program.h"

extern "C" {

__attribute__((visibility("default"))) int tunec_program(int argc, char** argv) {
  return tunec::RunTunec(argc, argv);
}

__attribute__((visibility("default"))) int tunec_worker_program(int argc, char** argv) {
  return tunec::RunWorker(argc, argv);
}

}  // extern "C"
