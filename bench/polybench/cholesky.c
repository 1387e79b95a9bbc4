// The PolyBench kernel cholesky: the lower halves of X + n I and of L L^T are equal. Above the
// diagonal, the array L has the elements of X, which count as 0 in the product.
#include <math.h>

static void Kernel(const double X[restrict X_0][X_1], double L[restrict L_0][L_1]) {
  enum { n = X_0 };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) L[i][j] = X[i][j] + (i == j ? n : 0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k) L[i][j] -= L[i][k] * L[j][k];
      L[i][j] /= L[j][j];
    }
    for (int k = 0; k < i; ++k) L[i][i] -= L[i][k] * L[i][k];
    L[i][i] = sqrt(L[i][i]);
  }
}

void Run(void** a) { Kernel(a[0], a[1]); }
