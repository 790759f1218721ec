// Two remainders in one index: where the stride does not hold, each lane divides, and a division ends in a new block.
// run: global=37 local=9 offset=3
// arg: buffer int 64 = zero
// arg: buffer int 1024 = random 7
// arg: value int 20

kernel void k(global int *out, global const int *in, uint w) {
  uint i = get_global_id(0);
  out[i] = in[i % w + (i + 1u) % w * 2u];
}
