// Records of two, three, four and seven numbers: each read, changed and written at an unsigned index, by all work-items
// or by some.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// run: global=50 local=17 offset=8
// arg: buffer int 1024 = zero
// arg: buffer int 1024 = random 7
// arg: buffer short 1024 = random 9
// arg: value uint 170

kernel void k(global int *out, global int *a, global short *s, uint n) {
  uint i = get_global_id(0);
  uint two = i * 2, three = i * 3 + 512;
  if (two < n)
    a[two] += 5;
  if (two + 1 < n)
    a[two + 1] -= a[two];
  if (three < 512 + n)
    a[three] *= 3;
  if (three + 1 < 512 + n)
    a[three + 1] += a[three];
  if (three + 2 < 512 + n)
    a[three + 2] ^= a[three + 1];
  uint far = i * 0x40000007u;
  s[512 + (far & 127) * 3] += 1;
  s[i * 4 + 1] = (short)(s[i * 4] * s[i * 4 + 3]);
  s[i * 4 + 2] = (short)(s[i * 4 + 1] + 1);
  vstore4((int4)(a[two], i, three, n), i * 2, out);
  int4 whole = vload4(i * 2, out);
  vstore3(whole.zyx + 1, 0, out + i * 8 + 4);
  out[i * 8 + 7] = whole.x + s[i * 4 + 2];
}
