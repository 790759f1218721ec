// Indices of 32 bits that wrap onto valid elements: what is checked once per group must not be taken for granted.
// `w` is 2^30 + 1, so that 4 * r * w is 4 * r; `end` is the largest int, which a grid's step passes.
// run: global=64 local=16 kernel=rows
// run: global=64 local=16 kernel=rows_in_two_steps
// run: global=37 local=16 offset=3 kernel=rows
// run: global=64 local=16 kernel=small_rows
// run: global=64 local=16 kernel=counter_wraps
// run: global=64 local=16 kernel=counter_ends_at_a_number
// run: global=64 local=16 kernel=grid_of_int
// run: global=64 local=16 kernel=grid_of_uint
// run: global=16x4 local=8x2 kernel=two_dimensions
// run: global=64 local=16 kernel=signed_start
// run: global=64 local=16 kernel=reversed
// run: global=64 local=16 kernel=only_in_the_first_group
// run: global=64 local=16 kernel=sum_wraps
// run: global=64 local=16 kernel=product_wraps
// run: global=60 local=20 kernel=saved_across_a_barrier
// run: global=64 local=64 kernel=saved_across_a_barrier
// run: global=16x4 local=8x2 kernel=saved_across_a_barrier
// run: global=3x20 local=3x10 kernel=saved_across_a_barrier
// arg: buffer uint 1024 = zero
// arg: buffer uint 1024 = random 7
// arg: value uint 0x40000001
// arg: value uint 20
// arg: value int 0x7fffffff
kernel void rows(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint r = get_global_id(0), sum = 0;
  for (uint c = 0; c < m; c++) sum = sum * 31 + in[4 * r * w + c];
  out[r] = sum;
}

kernel void rows_in_two_steps(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint r = get_global_id(0) * 4, base = r, sum = 0;
  base *= w;
  for (uint c = 0; c != m; ++c) sum = sum * 31 + in[base + c] + in[base + 4 * c];
  out[get_global_id(0)] = sum;
}

// Only the width is computed by wrapping: it is 17.
kernel void small_rows(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint r = get_global_id(0), n = 4 * w + 13, sum = 0;
  for (uint c = 0; c < m - 3; c++) sum = sum * 31 + in[r % 16 * n + c];
  out[r] = sum;
}

// From 2^32 - 8 over 0 to 20.
kernel void counter_wraps(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint r = get_global_id(0), sum = 0;
  for (uint c = w - 0x40000009; c != m; c++) sum = sum * 31 + in[c + 8 + r];
  out[r] = sum;
}

kernel void counter_ends_at_a_number(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint r = get_global_id(0) % 16, sum = 0;
  for (uint c = r; c != m; c++) sum = sum * 31 + in[r * 16 + c];
  out[get_global_id(0)] = sum;
}

// The counter passes the largest int, and its elements are those of the id.
kernel void grid_of_int(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint sum = 0, times = 0;
  for (int i = get_global_id(0); i < end && times < m; i += get_global_size(0) * (w >> 6), times++)
    sum = sum * 31 + in[i * 4u];
  out[get_global_id(0)] = sum;
}

kernel void grid_of_uint(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint sum = 0, times = 0;
  for (uint i = get_global_id(0); i < (uint)end * 2 && times < m; i += get_global_size(0) * (w >> 6), times++)
    sum = sum * 31 + in[i * 4];
  out[get_global_id(0)] = sum;
}

kernel void two_dimensions(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint x = get_global_id(0), y = get_global_id(1) * 4, sum = 0;
  for (uint dy = 0; dy < 3; dy++)
    for (uint dx = 0; dx < m; dx++) sum = sum * 31 + in[(y + 4 * dy) * w + (x + dx)];
  out[get_global_id(1) * 16 + x] = sum;
}

kernel void signed_start(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint r = get_global_id(0), sum = 0;
  for (int c = -(int)m; c < (int)m; c++) sum = sum * 31 + in[4 * r * w + c + m];
  out[r] = sum;
}

kernel void reversed(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint r = get_global_id(0), sum = 0;
  for (uint c = 0; c < 40; c++) sum = sum * 31 + in[m - c - r + 128];
  out[r] = sum;
}

// The group of id 0 has no product that wraps, the others have.
kernel void only_in_the_first_group(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint g = get_group_id(0) * 4, l = get_local_id(0), sum = 0;
  for (uint c = 0; c < m; c++) sum = sum * 31 + in[g * w + l * 16 + c];
  out[get_global_id(0)] = sum;
}

// Work-items that run one at a time find what vectors saved.
kernel void saved_across_a_barrier(global uint *out, const global uint *in, uint w, uint m, int end) {
  local uint tile[64];
  uint r = get_global_id(0) + get_global_id(1) * get_global_size(0);
  uint l = get_local_linear_id(), last = get_local_size(0) * get_local_size(1) - 1;
  uint sum = in[r];
  float root = sqrt((float)in[r + 1]);
  tile[l] = sum >> 3;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint c = 0; c < m; c++) sum = sum * 31 + in[4 * r * w + c];
  sum ^= tile[last - l] ^ as_uint(root);
  barrier(CLK_LOCAL_MEM_FENCE);
  tile[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint c = 0; c < 8; c++) sum = sum * 31 + in[c + 2 * r] + tile[last - l];
  out[r] = sum;
}

// 2^32 - 8 and an id: the address is computed of lane 0, whose sum has not wrapped.
kernel void sum_wraps(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint x = get_global_id(0), b = w - 0x40000009, sum = 0;
  for (uint c = 0; c < m; c++)
    if (x >= 8) sum = sum * 31 + in[x + b + c];
  out[x] = sum;
}

// (x + 2^30) * 4 is 4 * x, at a stride of four from lane to lane.
kernel void product_wraps(global uint *out, const global uint *in, uint w, uint m, int end) {
  uint x = get_global_id(0), sum = 0;
  for (uint c = 0; c < m; c++) sum = sum * 31 + in[(x + (w - 1)) * 4 + c];
  out[x] = sum;
}
