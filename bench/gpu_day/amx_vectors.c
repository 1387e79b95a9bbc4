// A program that runs TDPBF16PS or TDPBUSD on the tiles of a file of vectors
// (runtime/kernel_vectors.h), and writes the file with this machine's results.
//
//     amx_vectors NAME.vectors > RESULT.vectors
//
// The program shares no code with tunec, so it records the instruction's own results. The file has
// the arguments A, B, C and D; D is C plus the products. All rows have 64 bytes. In B, each group
// of four bytes has consecutive elements of the reduced axis. The exit code is 2 if the system
// grants no AMX.
#include <asm/prctl.h>
#include <immintrin.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kTileBytes = 1024, kRowBytes = 64, kRows = 16, kMostTiles = 64, kArguments = 4 };
enum { kTileData = 18 };  // number of the tiles among the components of the processor's state

struct Argument {
  char name[16], type[8], rest[32];
  long elements, bytes;
  _Alignas(64) unsigned char data[kMostTiles * kTileBytes];
};

struct TileConfiguration {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};

static void Fail(const char* why) {
  fprintf(stderr, "amx_vectors: %s\n", why);
  exit(1);
}

static long SizeOfType(const char* type) {
  if (strcmp(type, "u8") == 0 || strcmp(type, "i8") == 0) return 1;
  return strcmp(type, "bf16") == 0 ? 2 : 4;
}

static void ReadArgument(FILE* file, struct Argument* argument) {
  char line[128];
  if (!fgets(line, sizeof line, file)) Fail("an argument is missing");
  if (sscanf(line, "%15s %7s %ld", argument->name, argument->type, &argument->elements) != 3)
    Fail("expected NAME TYPE ELEMENTS");
  const long size = SizeOfType(argument->type);
  argument->bytes = size * argument->elements;
  if (argument->bytes > (long)sizeof argument->data) Fail("there are too many tiles");
  for (long i = 0; i < argument->elements; ++i) {
    uint32_t bits = 0;
    if (fscanf(file, "%" SCNx32, &bits) != 1) Fail("an element is missing");
    memcpy(argument->data + i * size, &bits, (size_t)size);
  }
  if (fgets(line, sizeof line, file) && line[0] != '\n') Fail("expected the end of a line");
}

static void WriteArgument(const struct Argument* argument) {
  const long size = SizeOfType(argument->type);
  printf("%s %s %ld\n", argument->name, argument->type, argument->elements);
  for (long i = 0; i < argument->elements; ++i) {
    uint32_t bits = 0;
    memcpy(&bits, argument->data + i * size, (size_t)size);
    printf("%0*" PRIx32 "%c", (int)(2 * size), bits,
           i % 16 == 15 || i + 1 == argument->elements ? '\n' : ' ');
  }
}

// Prints the line "from NAME" with the first model name in /proc/cpuinfo; nothing if there is none.
static void PrintProcessor(void) {
  char line[256];
  FILE* file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, "model name", 10) != 0) continue;
    printf("from %s", strchr(line, ':') + 2);
    break;
  }
  if (file) fclose(file);
}

__attribute__((target("amx-tile,amx-bf16,amx-int8"))) static void Multiply(const struct Argument* a,
                                                                           const struct Argument* b,
                                                                           const struct Argument* c,
                                                                           struct Argument* d) {
  struct TileConfiguration configuration = {.palette = 1};
  for (int tile = 0; tile < 3; ++tile) {
    configuration.row_bytes[tile] = kRowBytes;
    configuration.rows[tile] = kRows;
  }
  _tile_loadconfig(&configuration);
  for (long at = 0; at < d->bytes; at += kTileBytes) {
    _tile_loadd(0, c->data + at, kRowBytes);
    _tile_loadd(1, a->data + at, kRowBytes);
    _tile_loadd(2, b->data + at, kRowBytes);
    if (strcmp(a->type, "bf16") == 0)
      _tile_dpbf16ps(0, 1, 2);
    else
      _tile_dpbusd(0, 1, 2);
    _tile_stored(0, d->data + at, kRowBytes);
  }
  _tile_release();
}

int main(int count, char** arguments) {
  static struct Argument values[kArguments];
  char line[256];
  if (count != 2) Fail("expected one file of vectors");
  FILE* file = fopen(arguments[1], "r");
  if (!file) Fail("the file cannot be read");
  if (!fgets(line, sizeof line, file) || strcmp(line, "tunec-vectors 1\n") != 0)
    Fail("expected tunec-vectors 1");
  if (!fgets(line, sizeof line, file)) Fail("expected from");
  for (int i = 0; i < kArguments; ++i) ReadArgument(file, &values[i]);
  fclose(file);
  enum { kRequestPermission = 0x1023 };  // ARCH_REQ_XCOMP_PERM
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) {
    fprintf(stderr, "amx_vectors: this machine has no AMX\n");
    return 2;
  }
  Multiply(&values[0], &values[1], &values[2], &values[3]);
  printf("tunec-vectors 1\n");
  PrintProcessor();
  for (int i = 0; i < kArguments; ++i) WriteArgument(&values[i]);
  return 0;
}
