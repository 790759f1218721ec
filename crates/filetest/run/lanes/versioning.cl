// After a barrier comes either another iteration, with few active work-items, or the end, with all; the choice is
// uniform. At the end all need quotients of the sums.
// run: global=48x6 local=16x3
// run: global=37x4 local=37x2
// run: global=64 local=64
// arg: buffer uint 1024 = random 7
// arg: buffer uint 4096 = zero
// arg: value int 5
// arg: value int 0
kernel void k(global const uint *in, global uint *out, int n, int none) {
  local uint4 tile[256];
  local uint rest[4];
  int lx = get_local_id(0), ly = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
  int l = get_local_id(1) * get_local_size(0) + get_local_id(0);
  int g = get_global_id(1) * get_global_size(0) + get_global_id(0);
  tile[l] = (uint4)(in[g] & 255, in[g] >> 8 & 255, in[g] >> 16 & 255, 1);
  if (l < 4)
    rest[l] = in[l];
  for (int m = w * h; m > 1; m = (m + 1) / 2) {
    int half_m = (m + 1) / 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < m - half_m)
      tile[l] += tile[l + half_m];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint4 mean = tile[0] / tile[0].w;
  out[g] = mean.x | mean.y << 8 | mean.z << 16;
  barrier(CLK_LOCAL_MEM_FENCE);
  // Every work-item has its own here, and the loop may end at once.
  for (int r = 0; r < (none ? n : 3); r++) {
    tile[l].x = tile[l].y * 3 + r;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (r == 1 && lx + 1 < w)
      tile[l].y ^= tile[l + 1].x;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (n > 4) {
      if (ly == 0)
        rest[l & 3] = 7;
    } else
      tile[l].z++;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g + 1024] = tile[l].x + tile[l].y % (tile[l].z + 1);
  out[g + 2048] = rest[0] / (n + none) + rest[1] % rest[2];
  for (int r = 0; r < none; r++)
    barrier(CLK_LOCAL_MEM_FENCE);
  if (none == 0)
    out[g + 3072] = rest[3] / n;
}
