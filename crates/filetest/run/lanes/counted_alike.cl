// Counters in memory of the group, where lanes count the values that they loaded: the same values, values that repeat
// after four lanes or after eight, all but one equal; through indices that wrap, where no lane is at its stride; by a
// number, downwards, and with the old value used.
// run: global=64 local=64
// run: global=96 local=32 offset=5
// run: global=37 local=37
// run: global=50 local=17
// run: global=128 local=64 offset=65500
// arg: buffer uint 262144 = zero
// arg: buffer uint 65536 = random 9
// arg: buffer uint 16384 = zero
// arg: value uint 5

void count(local uint *bins, uint word, uint copy, uint by) {
  atomic_add(&bins[(word & 255) * 4 + copy], by);
  atomic_sub(&bins[(word >> 8 & 255) * 4 + copy], 1);
  atomic_inc(&bins[(word >> 16 & 255) * 4 + (copy ^ 1)]);
  atomic_dec(&bins[word >> 24]);
}

kernel void k(global uint *out, global const uint *in, global const uint *zeros, uint by) {
  local uint bins[1024];
  const uint l = get_local_id(0), size = get_local_size(0), g = get_global_id(0), copy = l % 4;
  for (uint i = l; i < 1024; i += size)
    bins[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint round = 0; round < by; round++) {
    const uint4 none = vload4((g + round) & 4095, zeros);
    count(bins, none.x, copy, by);
    count(bins, none.w, 0, round);
    count(bins, in[g % 4 + round], copy, 2);
    count(bins, in[g % 4 + round], l % 8 / 2, 2);
    count(bins, in[g % 8 + round], copy, by);
    count(bins, in[(g & ~31u) % 512 + round], copy, by);
    count(bins, in[(l == size - 1) + round], copy, 1);
    const ushort near_end = (ushort)(65536 - 20 + l + round);
    count(bins, in[near_end], copy, by);
    const uint4 more = vload4((ushort)(g + round) & 16383, in);
    count(bins, more.y ^ 0x1010101, copy, by);
    count(bins, more.z, 3, 1);
    out[1024 * get_num_groups(0) + g - get_global_offset(0)] += round;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint before = atomic_add(&bins[in[g & 65535] & 1023], 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = l; i < 1024; i += size)
    out[get_group_id(0) * 1024 + i] = bins[i] + before * 0;
  out[131072 + g - get_global_offset(0)] = before;
}
