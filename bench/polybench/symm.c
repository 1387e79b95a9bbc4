// The PolyBench kernel symm: C = 1.5 A B + 1.2 C0. Reads only the lower half of the symmetric A.

static void Kernel(const double A[restrict A_0][A_1], const double B[restrict B_0][B_1],
                   const double C0[restrict C0_0][C0_1], double C[restrict C_0][C_1]) {
  for (int i = 0; i < C_0; ++i)
    for (int j = 0; j < C_1; ++j) C[i][j] = C0[i][j];
  for (int i = 0; i < C_0; ++i)
    for (int j = 0; j < C_1; ++j) {
      double sum = 0;
      for (int k = 0; k < i; ++k) {
        C[k][j] += 1.5 * B[i][j] * A[i][k];
        sum += B[k][j] * A[i][k];
      }
      C[i][j] = 1.2 * C[i][j] + 1.5 * B[i][j] * A[i][i] + 1.5 * sum;
    }
}

void Run(void** a) { Kernel(a[0], a[1], a[2], a[3]); }
