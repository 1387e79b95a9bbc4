// The PolyBench kernel bicg: s = A^T r and q = A p.

static void Kernel(const double A[restrict A_0][A_1], const double r[restrict r_0],
                   const double p[restrict p_0], double s[restrict s_0], double q[restrict q_0]) {
  for (int j = 0; j < A_1; ++j) s[j] = 0;
  for (int i = 0; i < A_0; ++i) {
    q[i] = 0;
    for (int j = 0; j < A_1; ++j) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
}

void Run(void** a) { Kernel(a[0], a[1], a[2], a[3], a[4]); }
