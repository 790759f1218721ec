// Addresses that are sums of a uniform and a varying part, in types that may wrap and types that may not.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// run: global=50 local=17 offset=8
// arg: buffer int 128 = zero
// arg: buffer int 1024 = random 7
// arg: buffer int 128 = random 9
// arg: value int 20
// arg: value int -3
// arg: value uint 4294967290
// arg: buffer int 4096 = zero

struct pixel { short a; uchar4 b; int c; };

kernel void k(global int *out, global const int *in, global const int *from, int w, int minus, uint top, global int *to) {
  size_t gid = get_global_id(0);
  int own = from[gid] & 31, h = 0;
  uint uown = (uint)own;
  for (int row = 1; row < 4; row++) {
    h = h * 31 + in[row * w + own];
    h = h * 31 + in[own * 2 + row * w + 5];
    h = h * 31 + in[row * w - own + 40];
    h = h * 31 + in[own * minus + row * w + 120];
    h = h * 31 + in[(own << 3) + row];
    h = h * 31 + in[uown * 4 + row * (uint)w];
    // Wraps in 32 bits.
    h = h * 31 + in[uown + 10 + top];
    h = h * 31 + in[(uchar)(own * 9 + row)];
    h = h * 31 + in[(short)(own + row * 1000) & 1023];
    h = h * 31 + in[(long)own - minus * row];
    h = h * 31 + (in + row)[own + 7];
    h = h * 31 + ((global const struct pixel *)in)[own + row].c + ((global const struct pixel *)in)[own + row].b.y;
    h = h * 31 + ((global const short *)in)[own * 3 + row] + ((global const uchar *)in)[row - own + 100];
  }
  // Each work-item has 16 places of its own.
  for (int k = 0; k < 4; k++) {
    to[(int)gid * 16 + (own & 3) * 4 + k] = h + k;
    if (gid % 3 == 1)
      to[(int)gid * 16 + (own & 3) * 4 + k] += in[own + k * w];
  }
  out[gid] = h;
}
