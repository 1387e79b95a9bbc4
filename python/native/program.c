/* A program of the package: a door to the library. TUNEC_PROGRAM is the function behind it. */
int TUNEC_PROGRAM(int argc, char** argv);

int main(int argc, char** argv) { return TUNEC_PROGRAM(argc, argv); }
