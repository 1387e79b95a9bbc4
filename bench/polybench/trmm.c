// The PolyBench kernel trmm: B = 1.5 A^T B0. A counts as lower triangular with a unit diagonal.

static void Kernel(const double A[restrict A_0][A_1], const double B0[restrict B0_0][B0_1],
                   double B[restrict B_0][B_1]) {
  for (int i = 0; i < B_0; ++i)
    for (int j = 0; j < B_1; ++j) B[i][j] = B0[i][j];
  for (int i = 0; i < B_0; ++i)
    for (int j = 0; j < B_1; ++j) {
      for (int k = i + 1; k < A_0; ++k) B[i][j] += A[k][i] * B[k][j];
      B[i][j] *= 1.5;
    }
}

void Run(void** a) { Kernel(a[0], a[1], a[2]); }
