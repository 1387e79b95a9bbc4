// The PolyBench kernel 3mm: G = (A B) (C D).

static void Kernel(const double A[restrict A_0][A_1], const double B[restrict B_0][B_1],
                   const double C[restrict C_0][C_1], const double D[restrict D_0][D_1],
                   double G[restrict G_0][G_1]) {
  static double E[E_0][E_1];
  static double F[F_0][F_1];
  for (int i = 0; i < E_0; ++i)
    for (int j = 0; j < E_1; ++j) {
      E[i][j] = 0;
      for (int k = 0; k < A_1; ++k) E[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < F_0; ++i)
    for (int j = 0; j < F_1; ++j) {
      F[i][j] = 0;
      for (int k = 0; k < C_1; ++k) F[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < G_0; ++i)
    for (int j = 0; j < G_1; ++j) {
      G[i][j] = 0;
      for (int k = 0; k < E_1; ++k) G[i][j] += E[i][k] * F[k][j];
    }
}

void Run(void** a) { Kernel(a[0], a[1], a[2], a[3], a[4]); }
