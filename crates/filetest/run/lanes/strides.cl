// Indices that are strided, or look so: divided, or-ed, masked, compared, shifted out and back, with a pitch of the
// launch.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// run: global=50 local=17 offset=8
// arg: buffer int 1024 = zero
// arg: buffer int 1024 = random 7
// arg: value int -1
// arg: value int 0
// arg: value int 5

kernel void k(global int *out, global const int *in, int back, int none, int pitch) {
  size_t gid = get_global_id(0);
  int i = (int)gid;
  uint u = (uint)gid;
  int h = 0;
#define MIX(index) h = h * 31 + in[(index) & 1023]
  MIX((gid * 4) / 2);
  MIX((uint)(gid - 1));
  MIX(u + 0xFFFFFFF8u);
  MIX(gid / 8);
  MIX(gid * 4 | 3);
  MIX(gid * 4 | 5);
  MIX(i << 31 >> 31);
  MIX(u - 5u < 3u);
  MIX(i - 5 < 3);
  MIX(i * back);
  MIX(i * none);
  MIX(i * pitch);
  MIX((i * 5) & 15);
  MIX((long)((float)(i + 16777210)));
  MIX((i ^ 1) + 3);
  MIX(~i);
  MIX((uchar)(gid * 2) + (uchar)(200 + gid));
  h = h * 31 + in[500 - i] + in[i] + in[i + 1] + in[2 * i] + in[3 * i + 2] + in[4 * i + 1];
  h = h * 31 + in[(u << 27) >> 27] + in[(u * 16u) >> 2];
  out[gid] = h;
}
