// Atomic operations of all work-items at one address, whose old values are used or not, in branches too; counters that
// allot numbers.
// run: global=64 local=64
// run: global=37 local=9
// run: global=50 local=17
// arg: buffer int 256 = zero
// arg: buffer long 4 = zero
// arg: buffer int 64 = random 5
kernel void k(global int *out, global long *wide, global const int *in) {
  local int own[4];
  int i = get_global_id(0), l = get_local_id(0);
  if (l == 0) {
    own[0] = 3;
    own[1] = own[2] = 0;
    own[3] = -1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int x = in[i];
  // Results that do not depend on the order of groups.
  atomic_add(&out[0], x);
  atomic_sub(&out[1], x);
  atomic_xor(&out[2], x);
  atomic_or(&out[3], x & 0xff00);
  atomic_min(&out[4], x);
  atomic_max(&out[5], x);
  atomic_max((global uint *)&out[6], (uint)x);
  atomic_inc(&out[7]);
  atom_add((global ulong *)&wide[0], (ulong)(long)x);
  if (x & 1) {
    atomic_add(&out[8], 5);
    atomic_add(&out[9], x);
    atomic_dec(&own[1]);
    if (x & 2)
      atomic_and(&own[3], x);
  }
  // Numbers handed out within a group: each once, whoever gets it.
  atomic_inc(&out[10 + atomic_inc(&own[0])]);
  if (x & 4)
    atomic_inc(&out[80 - atomic_sub(&own[2], 7) / 7]);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[150 + i] = own[0] + own[1] * 1000 + own[2] * 1000000 + (own[3] << 8);
}
