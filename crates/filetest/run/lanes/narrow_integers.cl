// Integers that need only 16 bits of their 32: on the way around loops, at the limits of 16 bits and just beyond,
// signed, compared, widened again, and cut.
// run: global=37 local=9 offset=3
// run: global=64 local=64
// arg: buffer uchar 1024 = random 3
// arg: buffer uchar 4096 = zero
// arg: buffer uint 2048 = zero
// arg: buffer int 2048 = zero
// arg: value int 5
// arg: value int 300
kernel void k(global const uchar *in, global uchar *bytes, global uint *u, global int *s, int n, int many) {
  int i = get_global_id(0);
  uint4 p = convert_uint4(vload4(i, in));
  uint4 q = p;
  // Rounds that stay below 256, and those that do not.
  for (int r = 0; r < n; r++)
    p.xyz = min(p.xyz + p.xyz / 16 + 1, 255u);
  for (int r = 0; r < n; r++)
    q.xyz -= (q.xyz + 15) / 16;
  vstore4(convert_uchar4(p), 4 * i, bytes);
  vstore4(convert_uchar4(q), 4 * i + 1, bytes);
  uint4 grows = q;
  for (int r = 0; r < many; r++)
    grows = grows + grows / 32 + 3;
  vstore4(convert_uchar4(grows / 7), 4 * i + 2, bytes);
  // One above x: what is subtracted may be more than there is.
  uint4 below = q;
  for (int r = 0; r < n; r++)
    below -= (below + 16) / 16;
  vstore4(convert_uchar4(below / 5), 4 * i + 3, bytes);

  uint x = in[i], y = in[i + 100], z = in[i + 200];
  u[8 * i] = (x * 257 + 0) >> 3;
  u[8 * i + 1] = (x * 257 + 1) >> 3;
  u[8 * i + 2] = (x * y + z) / 255;
  u[8 * i + 3] = (x * y + z * 3) % 251;
  u[8 * i + 4] = (x << 8 | y) > (z << 8 | x) ? x << 8 | y : z << 8 | x;
  u[8 * i + 5] = (x << 8 | y) > (z << 9 | x) ? 1 : (x << 15) + (y << 15);
  u[8 * i + 6] = (uchar)((x - y) * z + (x ^ 0x1ff)) + (ushort)(x * y * z);
  u[8 * i + 7] = min(x - y, z) + max(x * 3, y) - min(x, y);

  int a = x, b = y, c = z;
  int d = clamp(2 * a - b - c, -256, 255), e = (a - b) * 100, f = (a - b) * 200;
  s[8 * i] = d;
  s[8 * i + 1] = e / 3 + (e >> 4);
  s[8 * i + 2] = f / 3 + (f >> 4);
  s[8 * i + 3] = max(a - b, -5) + min(b - c, 7);
  s[8 * i + 4] = (a - b < c - 128 ? a - b : c - 128) * 5;
  s[8 * i + 5] = (e > f) + (f > a) * 2 + (a - 300 < e) * 4 + (a - b == b - a) * 8;
  s[8 * i + 6] = abs(a - b) * (c - 100) + (char)(a - c) + ((a * b) & 0xfff);
  s[8 * i + 7] = i & 1 ? (a + b) / 2 : ((a + b + 1) / 2) * -3;
  long wide = (long)(a * 3 - b) * (c + many);
  s[8 * i + 7] += (int)(wide >> 2) + (int)((ulong)x * y % 1000);
}
