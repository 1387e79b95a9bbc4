// The PolyBench kernel fdtd-2d, which solves Maxwell's equations in two dimensions. Row 0 and
// column 0 of h are outside the grid and zero.

static void Kernel(const double fict[restrict fict_0], const double ex0[restrict ex0_0][ex0_1],
                   const double ey0[restrict ey0_0][ey0_1], const double hz0[restrict hz0_0][hz0_1],
                   double ex[restrict ex_0][ex_1], double ey[restrict ey_0][ey_1],
                   double h[restrict h_0][h_1]) {
  enum { nx = ex_0, ny = ex_1 };
  for (int i = 0; i < nx; ++i)
    for (int j = 0; j < ny; ++j) {
      ex[i][j] = ex0[i][j];
      ey[i][j] = ey0[i][j];
      h[i + 1][j + 1] = hz0[i][j];
    }
  for (int i = 0; i <= nx; ++i) h[i][0] = 0;
  for (int j = 0; j <= ny; ++j) h[0][j] = 0;
  for (int t = 0; t < step_t; ++t) {
    for (int j = 0; j < ny; ++j) ey[0][j] = fict[t];
    for (int i = 1; i < nx; ++i)
      for (int j = 0; j < ny; ++j) ey[i][j] -= 0.5 * (h[i + 1][j + 1] - h[i][j + 1]);
    for (int i = 0; i < nx; ++i)
      for (int j = 1; j < ny; ++j) ex[i][j] -= 0.5 * (h[i + 1][j + 1] - h[i + 1][j]);
    for (int i = 0; i < nx - 1; ++i)
      for (int j = 0; j < ny - 1; ++j)
        h[i + 1][j + 1] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

void Run(void** a) { Kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6]); }
