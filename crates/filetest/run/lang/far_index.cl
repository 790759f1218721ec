// Indices that a mask makes of numbers far from zero. Each array is read, or written, by such an index alone.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0
#define ARRAY { zero + 10, zero + 11, zero + 12, zero + 13, zero + 14, zero * 5 + 15, zero / 3 + 16, zero ^ 17 }

constant int far[2] = { (int)0x80000001u, (int)0x80000000u };

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  int a[8] = ARRAY, b[8] = ARRAY, c[16] = ARRAY, d[16] = ARRAY;
  CHECK(a[min((int)0x80000001u, zero) & 7] == 11);
  CHECK(b[min(far[0], zero) & 7] == 11);
  CHECK(c[max(zero | 0x7ffffff4, 0x7ffffff0) & 15] == 14);
  CHECK(d[(max((uint)zero, 0x80000000u) + 2) & 0x7fffffff] == 12);
  int e[16] = ARRAY, f[16] = ARRAY;
  e[min(far[1], zero) & 7] = 100;
  CHECK(e[zero & 1] == 100 && e[(zero + 1) & 7] == 11);
  f[(min((uint)zero, 1u) + 0x40000005u) & 15] = 200;
  CHECK(f[(zero + 5) & 7] == 200 && f[(zero + 4) & 7] == 14);
  DONE;
}
