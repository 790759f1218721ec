// Groups that wait for the preceding one, as in scans that chain sums: that works as long as groups run in order, so
// they must not be batched.
// run: global=64 local=8
// run: global=60 local=7
// run: global=12 local=4
// arg: buffer uint 128 = zero
// arg: buffer uint 2048 = random 7
// arg: buffer uint 64 = zero
// arg: value uint 1801
// arg: local 256

kernel void k(global uint *out, global const uint *in, volatile global uint *sums, uint n, local uint *part) {
  const uint l = get_local_id(0), g = get_group_id(0);
  uint sum = 0;
  for (uint i = get_global_id(0); i < n; i += get_global_size(0))
    sum += in[i];
  if (l == 0 && g > 0)
    while (atomic_or(&sums[2 * g - 2], 0) == 0)
      ;
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (l == 0) {
    uint all = g > 0 ? sums[2 * g - 1] : 0;
    for (uint k = 0; k < get_local_size(0); k++)
      all += part[k];
    sums[2 * g + 1] = all;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_or(&sums[2 * g], 1);
    out[g] = all;
  }
}
