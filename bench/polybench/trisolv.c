// The PolyBench kernel trisolv: x solves the triangular system L x = b. L has the elements of L0
// below the diagonal, and d[i] + n on the diagonal.

static void Kernel(const double L0[restrict L0_0][L0_1], const double b[restrict b_0],
                   const double d[restrict d_0], double x[restrict x_0]) {
  enum { n = L0_0 };
  for (int i = 0; i < n; ++i) {
    x[i] = b[i];
    for (int j = 0; j < i; ++j) x[i] -= L0[i][j] * x[j];
    x[i] /= d[i] + n;
  }
}

void Run(void** a) { Kernel(a[0], a[1], a[2], a[3]); }
