// Two remainders in one index: each lane's is a division where the stride does not hold, and a division ends in a block
// of its own.
// run: global=37 local=9 offset=3
// arg: buffer int 64 = zero
// arg: buffer int 1024 = random 7
// arg: value int 20

kernel void k(global int *out, global const int *in, uint w) {
  uint i = get_global_id(0);
  out[i] = in[i % w + (i + 1u) % w * 2u];
}
