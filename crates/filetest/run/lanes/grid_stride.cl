// Grid-stride loops: groups are batched up to the first barrier, and run one by one after it. Bounds of any value,
// signed and unsigned counters of 32 and 64 bits.
// run: global=64 local=8
// run: global=63 local=9 offset=5
// run: global=60 local=7
// run: global=50 local=17 offset=8
// run: global=5 local=5
// run: global=6 local=1
// arg: buffer uint 1024 = zero
// arg: buffer uint 2048 = random 7
// arg: buffer float 2048 = random 9
// arg: buffer uint 2048 = zero
// arg: value uint 1801
// arg: value int 1500
// arg: value ulong 1999
// arg: local 256

kernel void k(global uint *out, global const uint *in, global const float *x, global uint *to, uint n, int m, ulong o, local uint *part) {
  const uint l = get_local_id(0), size = get_local_size(0);
  const uint place = get_global_id(0) - get_global_offset(0);
  uint sum = 0;
  for (uint i = get_global_id(0); i < n; i += get_global_size(0))
    sum += in[i] * (i + 1);
  // Another one, signed and with an inclusive bound, that computes its address.
  float most = -1.0f;
  int count = 0;
  for (int i = get_group_id(0) * get_local_size(0) + get_local_id(0); i <= m; i += get_num_groups(0) * get_local_size(0)) {
    most = fmax(most, x[i]);
    count += x[i] < 0.5f ? 1 : i;
  }
  // One that writes, and has long numbers.
  for (size_t i = get_global_id(0); i < o; i += get_global_size(0))
    to[i] += in[i] ^ n;
  part[l] = sum ^ as_uint(most) ^ count;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint all = 0;
  for (uint k = 0; k < size; k++)
    all = all * 31 + part[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  part[l] = all + l * (uint)get_group_id(0);
  // After a barrier, groups are not batched.
  for (uint i = get_global_id(0); i < n; i += get_global_size(0))
    all += in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[place * 3] = all ^ part[(l + 1) % size];
  out[place * 3 + 1] = sum;
  out[place * 3 + 2] = count;
}
