// The PolyBench kernel 2mm: D = 1.5 A B C + 1.2 D0.

static void Kernel(const double A[restrict A_0][A_1], const double B[restrict B_0][B_1],
                   const double C[restrict C_0][C_1], const double D0[restrict D0_0][D0_1],
                   double D[restrict D_0][D_1]) {
  static double tmp[tmp_0][tmp_1];
  for (int i = 0; i < tmp_0; ++i)
    for (int j = 0; j < tmp_1; ++j) {
      tmp[i][j] = 0;
      for (int k = 0; k < A_1; ++k) tmp[i][j] += 1.5 * A[i][k] * B[k][j];
    }
  for (int i = 0; i < D_0; ++i)
    for (int j = 0; j < D_1; ++j) {
      D[i][j] = 1.2 * D0[i][j];
      for (int k = 0; k < tmp_1; ++k) D[i][j] += tmp[i][k] * C[k][j];
    }
}

void Run(void** a) { Kernel(a[0], a[1], a[2], a[3], a[4]); }
