// Atomic operations on floats at one address, at colliding addresses and at distinct ones, in branches, with and without
// use of the old value.
// run: global=64 local=64
// run: global=37 local=9
// run: global=50 local=17
// arg: buffer float 256 = zero
// arg: buffer double 8 = zero
// arg: buffer int 64 = random 5
kernel void k(global atomic_float *out, global atomic_double *wide, global const int *in) {
  local atomic_float own[4];
  int i = get_global_id(0), l = get_local_id(0);
  if (l == 0)
    for (int k = 0; k < 4; k++)
      atomic_init(&own[k], 0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  int x = in[i] & 0xfff;
  // Sums of small whole numbers are exact in any order.
  atomic_fetch_add(&out[0], (float)x);
  atomic_fetch_sub_explicit(&out[1], 3.0f, memory_order_relaxed);
  atomic_fetch_min(&out[2], (float)(x - 2048));
  atomic_fetch_max_explicit(&out[3], x & 8 ? NAN : (float)x, memory_order_relaxed);
  atomic_fetch_add(&out[4 + (x & 3)], (float)(x >> 2));
  atomic_fetch_max(&out[8 + (x & 7)], (float)x);
  atomic_fetch_add(&wide[0], (double)x);
  atomic_fetch_min_explicit(&wide[1], (double)-x, memory_order_relaxed, memory_scope_device);
  if (x & 1) {
    atomic_fetch_add(&out[16], 5.0f);
    atomic_fetch_min_explicit(&out[17], -(float)x, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_sub(&own[1], (float)x);
    if (x & 2)
      atomic_fetch_max(&wide[2 + (x & 4) / 4], (double)x);
  }
  // Each number is handed out once.
  float turn = atomic_fetch_add(&own[0], 1.0f);
  atomic_fetch_add(&out[32 + (int)turn], 1.0f);
  atomic_fetch_add(&own[2 + (x & 1)], 1.0f);
  // Zeros: the negative one is the smaller.
  atomic_fetch_min(&out[20], x & 1 ? 0.0f : -0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_store(&out[128 + i], atomic_load(&own[0]) + atomic_load(&own[1]) * 64 + atomic_load(&own[2 + (l & 1)]) / 64);
}
