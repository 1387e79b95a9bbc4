// The PolyBench kernel doitgen: B[r, q, :] = A[r, q, :] C4.

static void Kernel(const double A[restrict A_0][A_1][A_2], const double C4[restrict C4_0][C4_1],
                   double B[restrict B_0][B_1][B_2]) {
  for (int r = 0; r < B_0; ++r)
    for (int q = 0; q < B_1; ++q)
      for (int p = 0; p < B_2; ++p) {
        double sum = 0;
        for (int s = 0; s < A_2; ++s) sum += A[r][q][s] * C4[s][p];
        B[r][q][p] = sum;
      }
}

void Run(void** a) { Kernel(a[0], a[1], a[2]); }
