/* Entry point of a program of the package. TUNEC_PROGRAM is the library's function to call. */
int TUNEC_PROGRAM(int argc, char** argv);

int main(int argc, char** argv) { return TUNEC_PROGRAM(argc, argv); }
