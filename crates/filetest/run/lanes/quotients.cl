// Rows and columns of a number: quotients that are uniform in a vector, or not; by powers of two, other constants,
// run-time values, zero and the lowest number; ascending and descending, negative, in narrow types, and at the ends of
// the types.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// run: global=50 local=17 offset=8
// run: global=128 local=32 offset=900
// run: global=24x6 local=8x3
// arg: buffer int 1152 = zero
// arg: buffer int 1024 = random 7
// arg: value int 20
// arg: value int 32
// arg: value int 0
// arg: value int 0x80000000

kernel void k(global int *out, global const int *in, int w, int pitch, int none, int lowest) {
  int i = (int)(get_global_id(1) * 20 + get_global_id(0)), l = (int)get_local_id(1) * 16 + (int)get_local_id(0);
  uint u = (uint)i;
  int h = 0;
#define MIX(index) h = h * 31 + in[(index) & 1023]
  // A transposed tile, and a picture with contiguous rows.
  MIX(l % 16 * 16 + l / 16);
  MIX(l / 16);
  MIX(i / w * pitch + i % w);
  MIX(u / (uint)w * pitch + u % (uint)w);
  MIX((i >> 5) * pitch + (i & 31));
  MIX(i / 100 * 100);
  MIX(i / 100 + i / 100);
  MIX((i / w + i / 64) * (i >> 4));
  // Backwards, by more than one, and below zero.
  MIX((1000 - i) / w);
  MIX((1000 - i) >> 4);
  MIX((2 * i) / 48 + (3 * i) / w);
  MIX((i - 40) / w + 3);
  MIX((i - 40) / 32 + 3);
  MIX(((i - 40) >> 5) + 3);
  MIX((uint)(i - 40) / 1000u);
  MIX((uint)(i - 40) >> 20);
  MIX((int)((u + 0x7fffffe0u) / 16u));
  MIX((int)(u + 0x7fffffe0u) / 16);
  MIX((int)(u + 0x7fffffe0u) >> 4);
  MIX((u + 0xffffffe0u) / 0xfffffff0u);
  MIX((u + 0xffffffe0u) / (uint)lowest);
  MIX(i / none);
  MIX(i / lowest);
  MIX(i / (w - pitch));
  MIX((uchar)((uchar)i + (uchar)200) / (uchar)50);
  MIX((short)(i * 600) >> 8);
  MIX((char)i / (char)20);
  // What is computed from a quotient: limits, other quotients, choices, widened numbers.
  MIX(min(i / w, 3) * pitch);
  MIX(max(i / w - 2, 0) + clamp(i / 32, 1, 2));
  MIX(i / w / 2);
  MIX(i / w % 3);
  MIX(none ? i / w : i / 32);
  MIX((long)(i / w) * 3 + (ulong)(u / 32u));
  MIX(i - i / w * w);
  MIX(i - i % w);
  // The numbers themselves, and branches and loops that hang on them.
  h = h * 31 + i / w * 7 + (i >> 4);
  if (i / w > 2)
    h += in[i / w];
  for (int k = 0; k < i / 32; k++)
    h = h * 3 + in[k + i / w];
  if (i % 3)
    h += in[i / w * pitch + i % w & 1023] + in[i / 32];
  int own[4] = { i, h, w, 3 };
  own[i / w & 3] += 5;
  h += own[i / 32 & 3];
  // (Rows of these numbers overlap, those of the output do not.)
  out[get_global_id(1) * 24 + get_global_id(0)] = h;
}
