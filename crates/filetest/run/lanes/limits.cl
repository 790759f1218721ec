// Indices of neighbours that are clamped at the ends of a row, or wrap to the other end: ascending, descending, in
// several types, with limits that are known only at run time, at the ends of the types, and narrower than a vector.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// run: global=50 local=17 offset=8
// run: global=128 local=32 offset=900
// arg: buffer int 1024 = zero
// arg: buffer int 1024 = random 7
// arg: value int 20
// arg: value int 45
// arg: value int 3
// arg: value int 0

kernel void k(global int *out, global const int *in, int low, int high, int small, int none) {
  size_t gid = get_global_id(0);
  int i = (int)gid, l = get_local_id(0);
  uint u = (uint)gid;
  int h = 0;
#define MIX(index) h = h * 31 + in[index]
#define WRAP(index) h = h * 31 + in[(index) & 1023]
  for (int d = -20; d <= 20; d += 4) {
    MIX(clamp(i + d, low, high));
    MIX(clamp(high - i + d, low, high));
    MIX(max(min(l + d, high), 0));
    MIX(clamp(i + d, low, low + 3));
    MIX((i + d + 1000) % high);
    MIX((u + (uint)d + 1000u) % (uint)high);
    MIX((uint)(2000 - i + d) % (uint)(high * 8));
    MIX((i + d + 1000) % small);
    WRAP((i + d) % high);
    WRAP((i + d) % (low - high));
    WRAP((i + d) % none);
    MIX((i + d) & 31);
    MIX((i * 2 + d) & 255);
    MIX((300 - i + d) & 63);
    MIX((u + (uint)d) & 7u);
  }
  // The clamped value has wrapped before, or wraps after.
  WRAP(max(u - 30u, 5u));
  WRAP(min(u - 30u, (uint)high));
  WRAP(min(u + 0xffffffe0u, 0xfffffff0u));
  WRAP(max((int)(u + 0x7fffffe0u), low));
  WRAP(min((int)(u + 2147483000u), 0x7ffffff0));
  WRAP((u - 30u) % 1000u);
  WRAP((uchar)((uchar)gid + (uchar)200) % (uchar)250);
  WRAP((short)max((short)(gid * 600), (short)-100));
  WRAP(max((char)gid, (char)-5));
  WRAP(min((long)gid - 40, -3L));
  // Of two that move, one in steps as wide as a row: either way round.
  MIX(max(i / 100, i % 100));
  MIX(max(i % 100, i / 100));
  MIX(min(i / 32, i));
  MIX(min(i, i / 32));
  MIX(max((int)(u / (uint)high), i - 40));
  MIX(min(u / (uint)high, u % (uint)high));
  // The indices themselves, not only the elements there.
  h = h * 31 + clamp(i - 10, low, high) * 7 + (i + 5) % 13;
  if (gid >= 1024)
    return;
  if (gid % 3)
    h += in[clamp(i - 2, 0, high)] + in[(i + 1) % high];
  out[gid] = h;
}
