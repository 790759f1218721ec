// Private arrays and structures that are accessed in several sizes, copied and filled: as a whole and in part, from
// and to memory and each other, by some of the work-items, in loops that they leave in different iterations.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// run: global=50 local=17 offset=8
// run: global=3 local=3
// arg: buffer int 1024 = zero
// arg: buffer int 2048 = random 7
// arg: value int 5

typedef struct { char tag; int n[20]; short s[5]; } mixed;
typedef struct { double w; float m[9]; uchar c[8]; ulong last; } wide;
typedef struct { float4 at; int id; } point;
typedef struct { point points[6]; short count; } path;
typedef struct __attribute__((packed)) { char c; int n; double d; } tight;

int mixed_sum(const mixed *p, int k) {
  int h = p->tag;
  for (int j = 0; j < 20; j++)
    h = h * 31 + p->n[j];
  return h + p->s[k % 5];
}

kernel void k(global int *out, global const int *in, int n) {
  int i = (int)get_global_id(0);
  int x = in[i];
  int h = 0;

  // Indexed: 4 and 2 bytes; one at a constant offset.
  mixed a = {1, {2, 3, 4, n, x, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, {20, 21, 22}};
  a.n[x & 15] += i;
  a.s[n - 1] = (short)x;
  mixed b = a;
  b.tag = (char)i;
  if (x & 1)
    b = a;
  else
    b.n[3] ^= x;
  h = mixed_sum(&a, i) * 31 + mixed_sum(&b, n);

  // Numbers of eight bytes in units of four or less, and at the unit's end.
  wide c = {2.5, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {'a', 'b', 'c'}, 0x0102030405060708ul};
  c.m[i % 9] *= 3.0f;
  c.c[x & 7] ^= (uchar)n;
  for (int j = 0; j < (x & 15); j++)
    c.m[j % 9] += c.c[j & 7];
  c.last += (ulong)(x & 1023);
  c.w += (double)c.m[n];
  h = h * 31 + (int)(c.w * 8.0) + (int)c.last + (int)(c.last >> 32) + c.c[n] + c.c[i & 7];
  for (int j = 0; j < 9; j++)
    h = h * 31 + (int)c.m[j];

  // Short vectors, components, and numbers beside them.
  path p = {{{(float4)(1, 2, 3, 4), 5}, {(float4)(i, n, x & 255, 1), 6}}, 2};
  p.points[i % 6].at.y = 100.0f;
  p.points[(x & 3) + 1] = p.points[n & 1];
  float *flat = (float *)&p.points[1].at;
  flat[x & 3] += 0.5f;
  point q = p.points[i & 3];
  h = h * 31 + (int)(q.at.x + q.at.y * 2.0f + q.at.z * 4.0f + q.at.w * 8.0f) + q.id + p.count;
  for (int j = 0; j < 6; j++)
    h = h * 31 + (int)p.points[j].at.y + p.points[j].id;

  // Vectors that are not aligned to their size, and of three.
  float row[24];
  for (int j = 0; j < 24; j++)
    row[j] = (float)((j * n) ^ (x & 31));
  vstore4(vload4(1, row + 3) + (float4)(1, 2, 3, 4), 0, row + (i % 5) + 1);
  float3 t = vload3(i & 3, row + 1);
  h = h * 31 + (int)(t.x + t.y * 3.0f + t.z * 5.0f);
  int3 triples[4] = {(int3)(1, 2, 3), (int3)(x, i, n)};
  triples[i & 3].z += 7;
  h = h * 31 + triples[x & 3].z + triples[1].x + triples[n & 3].y;

  // Without alignment.
  tight u[3] = {{1, 2, 3.0}, {(char)i, x, 4.5}};
  u[i % 3].n += 9;
  u[x & 1].d += 1.0;
  h = h * 31 + u[0].n + u[1].n + u[2].n + (int)(u[0].d + u[1].d * 4.0) + u[1].c;

  // The same bytes as numbers of two sizes.
  union { ulong l[4]; uint i[8]; uchar b[32]; } v = {{1, 2, 3, 0x8877665544332211ul}};
  v.i[x & 7] += (uint)i;
  v.b[i & 31] ^= 0x5a;
  for (int j = 0; j < 4; j++)
    h = h * 31 + (int)(v.l[j] ^ v.l[j] >> 32);

  // Filled and copied again in each iteration, by those that are still there.
  for (int j = 0; j < 1 + (x & 3); j++) {
    int z[40] = {[7] = j, [20 ... 25] = 3};
    int y[40];
    z[(x + j) & 31] += i;
    for (int l = 0; l < 40; l++)
      y[l] = z[39 - l];
    if ((x >> j) & 4)
      h = h * 31 + y[19] + z[7] + y[(i + j) & 31];
    mixed e = b;
    e.n[j] = h;
    h += mixed_sum(&e, j);
  }

  // From memory and to it.
  global mixed *there = (global mixed *)(out + 64) + i % 3;
  mixed f = *((global const mixed *)(in + 32) + (x & 7));
  f.n[i % 20] -= 1;
  h += mixed_sum(&f, x & 3) + (there->tag & 0);
  out[i] = h;
}
