// Replacements for parts of libc that static libraries need but that a packed tunec cannot use.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

// Debian's libisl.a and libgmp.a access stderr by a relocation that is valid only in programs, not
// in libtunec.so. The linker (--wrap=stderr) redirects all linked code to __wrap_stderr.
extern FILE* __real_stderr;
FILE* __wrap_stderr;

__attribute__((constructor(101))) static void SetStderr(void) { __wrap_stderr = __real_stderr; }

// LLVM names its temporary files with arc4random, which glibc has since 2.36. All other functions
// that tunec needs exist in 2.35.
uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}
