// Active work-item bounds: code between barriers in which only the first work-items of a group are active, in each
// dimension; code that all must run; and bounds that wrap, are negative or exceed the group.
// run: global=37x6x2 local=37x3x2
// run: global=80x4 local=40x4
// run: global=64x3x3 local=16x3x1
// run: global=45x2x2 local=15x1x2
// arg: buffer int 2048 = random 5
// arg: buffer int 4096 = zero
// arg: value int -3
// arg: value uint 4294967295
// arg: value uint 2147483648
kernel void k(global const int *in, global int *out, int minus, uint most, uint half_way) {
  local int part[1024];
  local int rows[64][64];
  int lx = get_local_id(0), ly = get_local_id(1), lz = get_local_id(2);
  int w = get_local_size(0), h = get_local_size(1), d = get_local_size(2);
  int l = (lz * h + ly) * w + lx, size = w * h * d;
  int g = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
  part[l] = in[g];
  if (lz == 0)
    rows[ly][lx] = in[g] ^ 5;
  // The sum of a row, halving it; then over the rows, and over the planes.
  for (int m = w; m > 1; m = (m + 1) / 2) {
    int half_m = (m + 1) / 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lx < m - half_m)
      part[l] += part[l + half_m];
  }
  for (int m = h; m > 1; m = (m + 1) / 2) {
    int half_m = (m + 1) / 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lx == 0 && ly < m - half_m)
      part[l] += part[l + half_m * w];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (ly == 0 && lx <= 0 && lz + 1 < d)
    part[l] += part[l + w * h];
  // At growing distances.
  for (uint s = 1; s < w; s *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lz == 0 && 2 * s * lx + s < w)
      rows[ly][2 * s * lx] += rows[ly][2 * s * lx + s];
  }
  for (uint s = 1; s < h; s *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lx == 0 && lz == 0 && ly % (2 * s) == 0 && ly + s < h)
      rows[ly][0] += rows[ly + s][0];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g] = part[0] * 3 + rows[0][0];
  // Odd limits.
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lx < minus)
    part[l] += 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((uint)lx < most && ly >= 0)
    part[l] += 2;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((uint)lx + most < 20)
    part[l] += 4;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((uint)lx * half_way + 7 < 8)
    part[l] += 8;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!(lx > 5 || ly != 1))
    part[l] += 16;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lx <= minus + 8)
    part[l] += 32;
  else if (ly == 0)
    part[l] += 64;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((uint)lx * (most + 1) < 8)
    part[l] += 128;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g + 1024] = part[l];
  // Nothing but what is kept for the next step.
  int kept = part[l] * 5;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lx == 3 && ly == 0)
    part[l] = minus;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g + 2048] = kept + part[w > 3 ? 3 + lz * h * w : 0];
}
