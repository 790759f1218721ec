// Groups that take different branches before the first barrier: they are not batched then.
// run: global=64 local=8
// run: global=63 local=9 offset=5
// run: global=50 local=17
// arg: buffer uint 1024 = zero
// arg: buffer uint 2048 = random 7
// arg: value uint 1801
// arg: local 256

kernel void k(global uint *out, global const uint *in, uint n, local uint *part) {
  const uint l = get_local_id(0), g = get_group_id(0);
  const uint place = get_global_id(0) - get_global_offset(0);
  uint sum = 0;
  for (uint i = get_global_id(0); i < n; i += get_global_size(0))
    sum += in[i];
  out[place] = sum;
  if (g == 1)
    return;
  if (g & 1)
    sum += 7;
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < g; k++) {
    sum += part[(l + k) % get_local_size(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[place] = sum;
}
