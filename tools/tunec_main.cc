// The main function of the program tunec.
#include "tools/tunec_program.h"

int main(int argc, char** argv) { return tunec::RunTunec(argc, argv); }
