// Measures this machine's peaks on 1..N pinned threads: core clock, f32 FMA (AVX-512 and AVX2), AMX
// (bf16 and int8), and memory bandwidth at several sizes.
// Build: g++ -O3 -march=native -pthread ceilings.cpp -o ceilings
// Usage: ./ceilings [threads=2] [seconds per run=0.4] [only tests whose name contains this]
// Each test has five runs. The runs of clock and memory take a quarter of the seconds.
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

using clk = std::chrono::steady_clock;
static double now() { return std::chrono::duration<double>(clk::now().time_since_epoch()).count(); }
static void pin(int cpu) {
  cpu_set_t s;
  CPU_ZERO(&s);
  CPU_SET(cpu, &s);
  pthread_setaffinity_np(pthread_self(), sizeof s, &s);
}

// Runs body(thread) on n threads that start together; body returns a rate.
// Returns the sum of the rates.
static double on_threads(int n, const std::function<double(int)>& body) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<double> r(n);
  std::vector<std::thread> ts;
  for (int t = 0; t < n; t++)
    ts.emplace_back([&, t] {
      pin(t);
      ready++;
      while (!go) {
      }
      r[t] = body(t);
    });
  while (ready < n) std::this_thread::yield();
  go = true;
  for (auto& t : ts) t.join();
  double s = 0;
  for (double x : r) s += x;
  return s;
}

// Returns GFLOP/s of FMAs with 28 independent accumulators of 16 lanes in registers.
// The loop is one asm block, so that the compiler cannot spill an accumulator.
static double fma512(double secs) {
  const float a = 0.999f, b = 1e-4f;
  uint64_t n = 0;
  double t0 = now(), t;
  do {
    long k = 20000;
    asm volatile(
        "vbroadcastss %1, %%zmm30\n"
        "vbroadcastss %2, %%zmm31\n"
        "vxorps %%zmm0, %%zmm0, %%zmm0\n"
        "vxorps %%zmm1, %%zmm1, %%zmm1\n"
        "vxorps %%zmm2, %%zmm2, %%zmm2\n"
        "vxorps %%zmm3, %%zmm3, %%zmm3\n"
        "vxorps %%zmm4, %%zmm4, %%zmm4\n"
        "vxorps %%zmm5, %%zmm5, %%zmm5\n"
        "vxorps %%zmm6, %%zmm6, %%zmm6\n"
        "vxorps %%zmm7, %%zmm7, %%zmm7\n"
        "vxorps %%zmm8, %%zmm8, %%zmm8\n"
        "vxorps %%zmm9, %%zmm9, %%zmm9\n"
        "vxorps %%zmm10, %%zmm10, %%zmm10\n"
        "vxorps %%zmm11, %%zmm11, %%zmm11\n"
        "vxorps %%zmm12, %%zmm12, %%zmm12\n"
        "vxorps %%zmm13, %%zmm13, %%zmm13\n"
        "vxorps %%zmm14, %%zmm14, %%zmm14\n"
        "vxorps %%zmm15, %%zmm15, %%zmm15\n"
        "vxorps %%zmm16, %%zmm16, %%zmm16\n"
        "vxorps %%zmm17, %%zmm17, %%zmm17\n"
        "vxorps %%zmm18, %%zmm18, %%zmm18\n"
        "vxorps %%zmm19, %%zmm19, %%zmm19\n"
        "vxorps %%zmm20, %%zmm20, %%zmm20\n"
        "vxorps %%zmm21, %%zmm21, %%zmm21\n"
        "vxorps %%zmm22, %%zmm22, %%zmm22\n"
        "vxorps %%zmm23, %%zmm23, %%zmm23\n"
        "vxorps %%zmm24, %%zmm24, %%zmm24\n"
        "vxorps %%zmm25, %%zmm25, %%zmm25\n"
        "vxorps %%zmm26, %%zmm26, %%zmm26\n"
        "vxorps %%zmm27, %%zmm27, %%zmm27\n"
        ".p2align 5\n"
        "1:\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm0\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm1\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm2\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm3\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm4\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm5\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm6\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm7\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm8\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm9\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm10\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm11\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm12\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm13\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm14\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm15\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm16\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm17\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm18\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm19\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm20\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm21\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm22\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm23\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm24\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm25\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm26\n"
        "vfmadd213ps %%zmm31, %%zmm30, %%zmm27\n"
        "dec %0\n"
        "jnz 1b\n"
        : "+r"(k)
        : "m"(a), "m"(b)
        : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
          "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19",
          "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29",
          "xmm30", "xmm31");
    n += 20000ull * 28 * 32;
    t = now() - t0;
  } while (t < secs);
  return double(n) / t / 1e9;
}
// Returns GFLOP/s of FMAs with 14 independent accumulators of 8 lanes in registers.
// The loop is one asm block, so that the compiler cannot spill an accumulator.
static double fma256(double secs) {
  const float a = 0.999f, b = 1e-4f;
  uint64_t n = 0;
  double t0 = now(), t;
  do {
    long k = 20000;
    asm volatile(
        "vbroadcastss %1, %%ymm14\n"
        "vbroadcastss %2, %%ymm15\n"
        "vxorps %%ymm0, %%ymm0, %%ymm0\n"
        "vxorps %%ymm1, %%ymm1, %%ymm1\n"
        "vxorps %%ymm2, %%ymm2, %%ymm2\n"
        "vxorps %%ymm3, %%ymm3, %%ymm3\n"
        "vxorps %%ymm4, %%ymm4, %%ymm4\n"
        "vxorps %%ymm5, %%ymm5, %%ymm5\n"
        "vxorps %%ymm6, %%ymm6, %%ymm6\n"
        "vxorps %%ymm7, %%ymm7, %%ymm7\n"
        "vxorps %%ymm8, %%ymm8, %%ymm8\n"
        "vxorps %%ymm9, %%ymm9, %%ymm9\n"
        "vxorps %%ymm10, %%ymm10, %%ymm10\n"
        "vxorps %%ymm11, %%ymm11, %%ymm11\n"
        "vxorps %%ymm12, %%ymm12, %%ymm12\n"
        "vxorps %%ymm13, %%ymm13, %%ymm13\n"
        ".p2align 5\n"
        "1:\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm0\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm1\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm2\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm3\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm4\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm5\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm6\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm7\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm8\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm9\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm10\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm11\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm12\n"
        "vfmadd213ps %%ymm15, %%ymm14, %%ymm13\n"
        "dec %0\n"
        "jnz 1b\n"
        : "+r"(k)
        : "m"(a), "m"(b)
        : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
          "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    n += 20000ull * 14 * 16;
    t = now() - t0;
  } while (t < secs);
  return double(n) / t / 1e9;
}
// Returns the clock in GHz. Each imul of a chain of dependent imuls takes 3 cycles.
static double clock_imul_ghz(double secs) {
  uint64_t x = 3, n = 0;
  double t0 = now(), t;
  do {
    for (int k = 0; k < 20000; k++) asm volatile(".rept 50\n\timul %0,%0\n\t.endr" : "+r"(x));
    n += 20000ull * 50 * 3;
    t = now() - t0;
  } while (t < secs);
  return double(n) / t / 1e9;
}

enum Kind { READ, COPY, COPY_NT, WRITE, TRIAD };
static double mem(Kind kind, size_t bytes, double secs) {
  // `bytes` is the size of each array this thread touches.
  auto get = [&](size_t b) {
    void* p = mmap(nullptr, b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, b, MADV_HUGEPAGE);
    memset(p, 1, b);
    return (float*)p;
  };
  int arrays = kind == READ || kind == WRITE ? 1 : kind == TRIAD ? 3 : 2;
  float *a = get(bytes), *b = arrays > 1 ? get(bytes) : nullptr,
        *c = arrays > 2 ? get(bytes) : nullptr;
  size_t n = bytes / 4;
  uint64_t it = 0;
  double t0 = now(), t;
  __m512 acc[8];
  for (auto& x : acc) x = _mm512_setzero_ps();
  while (true) {
    int reps = std::max<size_t>(1, (64u << 20) / bytes);
    for (int r = 0; r < reps; r++) {
      switch (kind) {
        case READ:
          for (size_t i = 0; i < n; i += 128)
            for (int j = 0; j < 8; j++)
              acc[j] = _mm512_add_ps(acc[j], _mm512_load_ps(a + i + 16 * j));
          break;
        case COPY:
          for (size_t i = 0; i < n; i += 16) {
            __m512 v = _mm512_load_ps(a + i);
            asm volatile("vmovaps %1,%0" : "=m"(*(__m512*)(b + i)) : "v"(v));
          }
          break;
        case COPY_NT:
          for (size_t i = 0; i < n; i += 16) _mm512_stream_ps(b + i, _mm512_load_ps(a + i));
          break;
        case WRITE: {
          __m512 v = _mm512_set1_ps(2.f);
          for (size_t i = 0; i < n; i += 16)
            asm volatile("vmovaps %1,%0" : "=m"(*(__m512*)(a + i)) : "v"(v));
          break;
        }
        case TRIAD:
          for (size_t i = 0; i < n; i += 16)
            _mm512_store_ps(c + i, _mm512_fmadd_ps(_mm512_load_ps(b + i), _mm512_set1_ps(3.f),
                                                   _mm512_load_ps(a + i)));
          break;
      }
      asm volatile("" ::: "memory");
    }
    it += reps;
    t = now() - t0;
    if (t > secs) break;
  }
  float s = 0;
  for (auto& x : acc) s += _mm512_reduce_add_ps(x);
  if (s == 12345.f) puts("");
  munmap(a, bytes);
  if (b) munmap(b, bytes);
  if (c) munmap(c, bytes);
  return double(it) * bytes * arrays / t / 1e9;
}

static bool amx_permission() {
  // The numbers 0x1023 and 18 are ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA.
  return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}
__attribute__((target("amx-tile,amx-bf16,amx-int8"))) static double amx(double secs, bool int8) {
  struct alignas(64) Cfg {
    uint8_t palette = 1, start = 0, r[14] = {};
    uint16_t colsb[16] = {};
    uint8_t rows[16] = {};
  } cfg;
  for (int i = 0; i < 8; i++) {
    cfg.colsb[i] = 64;
    cfg.rows[i] = 16;
  }
  _tile_loadconfig(&cfg);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  uint64_t n = 0;
  double t0 = now(), t;
  do {
    if (int8)
      for (int k = 0; k < 20000; k++) {
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
      }
    else
      for (int k = 0; k < 20000; k++) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
    n += 20000ull * 4 * 2 * 16 * 16 * (int8 ? 64 : 32);
    t = now() - t0;
  } while (t < secs);
  _tile_release();
  return double(n) / t / 1e9;
}

int main(int argc, char** argv) {
  int maxt = argc > 1 ? atoi(argv[1]) : 2;
  double secs = argc > 2 ? atof(argv[2]) : 0.4;
  const char* only = argc > 3 ? argv[3] : "";
  bool have_amx = amx_permission();
  uint64_t c0 = __rdtsc();
  double w0 = now();
  while (now() - w0 < 0.2) {
  }
  printf("tsc_ghz %.3f\n", (__rdtsc() - c0) / (now() - w0) / 1e9);
  for (int t = 1; t <= maxt; t++) {
    auto rep = [&](const char* name, const std::function<double()>& f, const char* unit,
                   double div = 1) {
      if (!strstr(name, only)) return;
      std::vector<double> v;
      for (int i = 0; i < 5; i++) v.push_back(on_threads(t, [&](int) { return f(); }) / div);
      std::sort(v.begin(), v.end());
      printf("threads=%d %-18s median %9.1f  min %9.1f  max %9.1f %s\n", t, name, v[2], v[0], v[4],
             unit);
      fflush(stdout);
    };
    rep(
        "core_clock", [&] { return 1000 * clock_imul_ghz(secs / 4); },
        "MHz (imul chain, mean per thread)", t);
    rep(
        "fma_f32_avx512", [&] { return fma512(secs); }, "GFLOP/s");
    rep(
        "fma_f32_avx2", [&] { return fma256(secs); }, "GFLOP/s");
    if (have_amx) {
      rep(
          "amx_bf16", [&] { return amx(secs, false); }, "GFLOP/s");
      rep(
          "amx_int8", [&] { return amx(secs, true); }, "GOP/s");
    } else
      puts("amx: permission denied");
    for (size_t kb : {24, 256, 1024, 16 * 1024, 64 * 1024, 256 * 1024}) {
      struct {
        const char* n;
        Kind k;
      } ks[] = {
          {"read", READ}, {"write", WRITE}, {"copy", COPY}, {"copy_nt", COPY_NT}, {"triad", TRIAD}};
      for (auto& k : ks) {
        char nm[64];
        snprintf(nm, sizeof nm, "%s_%zuKiB", k.n, kb);
        int arrays = k.k == READ || k.k == WRITE ? 1 : k.k == TRIAD ? 3 : 2;
        // `kb` counts all arrays of a thread together. Each array is rounded down to whole pages.
        size_t per = (kb * 1024 / arrays) & ~size_t(4095);
        if (!per) per = 4096;
        if (kb < 1024 && k.k == COPY_NT) continue;
        rep(
            nm, [&] { return mem(k.k, per, secs / 4); }, "GB/s");
      }
    }
  }
}
