// The PolyBench kernel nussinov: T[i][j] is the greatest number of nested base pairs in seq[i..j],
// a part of an RNA. Neighbours form no pair. T[i][j] is 0 for i > j.
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static void Kernel(const int seq[restrict seq_0], int T[restrict T_0][T_1]) {
  enum { n = seq_0 };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) T[i][j] = 0;
  for (int i = n - 1; i >= 0; --i)
    for (int j = i + 1; j < n; ++j) {
      T[i][j] = MAX(T[i][j], T[i][j - 1]);
      if (i + 1 < n) {
        T[i][j] = MAX(T[i][j], T[i + 1][j]);
        const int match = i < j - 1 && seq[i] + seq[j] == 3;
        T[i][j] = MAX(T[i][j], T[i + 1][j - 1] + match);
      }
      for (int k = i + 1; k < j; ++k) T[i][j] = MAX(T[i][j], T[i][k] + T[k + 1][j]);
    }
}

void Run(void** a) { Kernel(a[0], a[1]); }
