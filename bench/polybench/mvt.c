// The PolyBench kernel mvt: x1 = x10 + A y1 and x2 = x20 + A^T y2.

static void Kernel(const double A[restrict A_0][A_1], const double x10[restrict x10_0],
                   const double x20[restrict x20_0], const double y1[restrict y1_0],
                   const double y2[restrict y2_0], double x1[restrict x1_0],
                   double x2[restrict x2_0]) {
  enum { n = A_0 };
  for (int i = 0; i < n; ++i) {
    x1[i] = x10[i];
    for (int j = 0; j < n; ++j) x1[i] += A[i][j] * y1[j];
  }
  for (int i = 0; i < n; ++i) {
    x2[i] = x20[i];
    for (int j = 0; j < n; ++j) x2[i] += A[j][i] * y2[j];
  }
}

void Run(void** a) { Kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6]); }
