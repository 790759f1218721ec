// Kernels whose unit stride is along another dimension than 0: their ids, sizes, offsets and groups, after barriers
// too; launches that are long in one dimension, in another, in none.
// run: global=6x40 local=3x20 kernel=k
// run: global=1x70 local=1x35 offset=0x3 kernel=k
// run: global=64x2 local=16x2 offset=5x1 kernel=k
// run: global=5x3x33 local=5x3x11 offset=1x2x3 kernel=k
// run: global=7x37 local=3x16 kernel=k
// run: global=5x3x33 local=5x3x11 offset=1x2x3 kernel=last
// run: global=40x2x3 local=8x2x1 kernel=last
// run: global=1x3x37 local=1x1x9 kernel=last
// run: global=1x37 local=1x9 offset=3x5 kernel=alone
// run: global=3x37x2 local=3x5x1 offset=0x2 kernel=alone
// arg: buffer int 8192 = random 5
// arg: buffer int 8192 = zero
// arg: buffer int 8192 = zero
kernel void k(global const int *in, global int *out, global int *sums) {
  local int part[512];
  local int total;
  int y = get_global_id(0) - get_global_offset(0), x = get_global_id(1) - get_global_offset(1);
  int z = get_global_id(2) - get_global_offset(2);
  int w = get_global_size(1), h = get_global_size(0);
  int at = (z * h + y) * w + x;
  int lx = get_local_id(1), ly = get_local_id(0), lz = get_local_id(2);
  int lw = get_local_size(1), lh = get_local_size(0), ld = get_local_size(2);
  int l = (lz * lh + ly) * lw + lx;
  part[l] = in[at];
  if (l == 0)
    total = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lx + 1 < lw && (x & 3) != 2)
    out[at] = part[l + 1] - in[at] * (int)get_global_id(1) + (int)get_global_id(0);
  else
    out[at] = (int)(get_group_id(0) * 100 + get_group_id(1) * 10 + get_group_id(2));
  atomic_add(&total, in[at] & 1023);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[at] += total + (int)(get_num_groups(1) * 7 + get_num_groups(0)) + (int)get_work_dim();
  if (ly == 0 && lz == 0) {
    int sum = 0;
    for (int row = 0; row < lh * ld; row++)
      sum += part[row * lw + lx] ^ lx;
    sums[(get_group_id(2) * get_num_groups(0) + get_group_id(0)) * w + x] = sum + (int)get_enqueued_local_size(1);
  }
}

kernel void last(global const int *in, global int *out, global int *sums) {
  int z = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
  int x = get_global_id(2) - get_global_offset(2);
  int at = (z * (int)get_global_size(1) + y) * (int)get_global_size(2) + x;
  out[at] = in[at] * 3 + (int)get_global_linear_id();
  sums[at] = in[at + 1] - in[at] + (int)get_local_linear_id() * 100 + (int)get_global_id(0);
}

kernel void alone(global const int *in, global int *out, global int *sums) {
  int x = get_global_id(1) - get_global_offset(1);
  if (get_global_id(0) == get_global_offset(0) && get_global_id(2) == get_global_offset(2)) {
    int sum = 0;
    for (int j = 0; j < 9; j++)
      sum += in[j * 64 + x];
    out[x] = sum;
  }
}
