// The PolyBench kernel syrk: C = 1.5 A A^T + 1.2 C0 in the lower half, C = C0 elsewhere.

static void Kernel(const double A[restrict A_0][A_1], const double C0[restrict C0_0][C0_1],
                   double C[restrict C_0][C_1]) {
  enum { n = C_0 };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) C[i][j] = C0[i][j];
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) C[i][j] *= 1.2;
    for (int k = 0; k < A_1; ++k)
      for (int j = 0; j <= i; ++j) C[i][j] += 1.5 * A[i][k] * A[j][k];
  }
}

void Run(void** a) { Kernel(a[0], a[1], a[2]); }
