// The PolyBench kernel floyd-warshall: P[i][j] is the length of the shortest path from i to j.

static void Kernel(const int X[restrict X_0][X_1], int P[restrict P_0][P_1]) {
  enum { n = X_0 };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) P[i][j] = X[i][j];
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        P[i][j] = P[i][j] < P[i][k] + P[k][j] ? P[i][j] : P[i][k] + P[k][j];
}

void Run(void** a) { Kernel(a[0], a[1]); }
