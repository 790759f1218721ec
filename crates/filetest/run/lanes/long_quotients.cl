// Quotients and remainders of 64 bits by numbers that are known, and high halves of products, at the ends of their
// ranges.
// run: global=64 local=64
// run: global=45 local=15 offset=3
// arg: buffer ulong 128 = random 7
// arg: buffer ulong 4096 = zero

kernel void k(global const ulong *in, global ulong *out) {
  int g = get_global_id(0);
  ulong ends[8] = { 0, 1, 0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001, 0xffffffffffffffff, 0xffffffff, 0x100000000 };
  ulong x = g & 1 ? in[g] : ends[g >> 1 & 7], y = in[g + 1] ^ ends[g % 7];
  if (g % 5 == 1)
    x >>= g & 63;
  long s = (long)x;
  ulong h = 0;
#define STEP(e) h = rotate(h, 9ul) * 5 ^ (ulong)(e)
  STEP(x / 3); STEP(x % 3); STEP(x / 7); STEP(x % 10); STEP(x / 641);
  STEP(x % 1000000007ul); STEP(x / 0x100000001ul); STEP(x / 0x8000000000000001ul); STEP(x % 0xfffffffffffffffful); STEP(x / 0xfffffffffffffffeul);
  STEP(x / 8); STEP(x % 0x8000000000000000ul);
  out[g * 4] = h;
  h = 0;
  STEP(s / 3); STEP(s % 3); STEP(s / -7); STEP(s % -7); STEP(s / 1000000007l); STEP(s % 1000000007l);
  STEP(s / 8); STEP(s % -8); STEP(s / -1); STEP(s % -1); STEP(s / (-0x7fffffffffffffffl - 1)); STEP(s % 0x7fffffffffffffffl);
  out[g * 4 + 1] = h;
  out[g * 4 + 2] = mul_hi(x, y) ^ rotate((ulong)mul_hi(s, (long)y), 13ul);
  ulong2 v = (ulong2)(x, y);
  long2 w = as_long2(v);
  ulong2 q = v / 1000003ul ^ rotate(v % 10ul, (ulong2)5) ^ as_ulong2(w / -10l) ^ mul_hi(v, v.yx) ^ as_ulong2(mul_hi(w, (long2)(-3)));
  out[g * 4 + 3] = q.x * 31 + q.y;
}
