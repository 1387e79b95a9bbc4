// What static libraries want of libc and cannot have in a packed tunec.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

// Debian's libisl.a and libgmp.a reach stderr in a way that only programs allow, not libtunec.so.
// The linker (--wrap=stderr) has all that is linked use this one.
extern FILE* __real_stderr;
FILE* __wrap_stderr;

__attribute__((constructor(101))) static void SetStderr(void) { __wrap_stderr = __real_stderr; }

// LLVM names its temporary files by it. glibc has it from 2.36 on, everything else that tunec wants
// from 2.35 on.
uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}
