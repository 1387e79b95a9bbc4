// The main function of the program tunec-worker.
#include "tools/worker_program.h"

int main(int argc, char** argv) { return tunec::RunWorker(argc, argv); }
