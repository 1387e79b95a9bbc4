// The PolyBench kernel gramschmidt: X + 30 I = Q R, by the modified Gram-Schmidt method.
#include <math.h>

static void Kernel(const double X[restrict X_0][X_1], double Q[restrict Q_0][Q_1],
                   double R[restrict R_0][R_1]) {
  enum { m = X_0, n = X_1 };
  static double A[m][n];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) A[i][j] = X[i][j] + (i == j ? 30 : 0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) R[i][j] = 0;
  for (int k = 0; k < n; ++k) {
    double norm = 0;
    for (int i = 0; i < m; ++i) norm += A[i][k] * A[i][k];
    R[k][k] = sqrt(norm);
    for (int i = 0; i < m; ++i) Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < n; ++j) {
      for (int i = 0; i < m; ++i) R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < m; ++i) A[i][j] -= Q[i][k] * R[k][j];
    }
  }
}

void Run(void** a) { Kernel(a[0], a[1], a[2]); }
