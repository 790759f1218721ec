// Atomic sums, differences, minima and maxima of floats and doubles, in local, private, global and generic memory.
// (Others want -cl-std=CL3.0 and cl_ext_float_atomics.)
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

#if !defined(__opencl_c_ext_fp32_local_atomic_add) || !defined(__opencl_c_ext_fp64_global_atomic_min_max)
#error "the features are missing"
#endif

float add_to(volatile atomic_float *p, float x) {
  return atomic_fetch_add_explicit(p, x, memory_order_relaxed, memory_scope_work_group);
}

kernel void test(global int *out) {
  local atomic_float sum, least, most, zeros, numbers;
  local atomic_double wide, deep;
  int id = get_local_id(0), n = get_local_size(0);
  if (id == 0) {
    atomic_init(&sum, 0.5f);
    atomic_init(&least, INFINITY);
    atomic_init(&most, -INFINITY);
    atomic_init(&zeros, 0.0f);
    atomic_init(&numbers, NAN);
    atomic_init(&wide, 1.0);
    atomic_init(&deep, 0.0);
  }
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  // Small whole numbers and halves: exact in any order.
  atomic_fetch_add(&sum, id + 0.5f);
  atomic_fetch_sub_explicit(&sum, 0.25f, memory_order_acq_rel);
  atomic_fetch_min_explicit(&least, 10.0f - id, memory_order_relaxed, memory_scope_device);
  atomic_fetch_max(&most, id & 1 ? NAN : (float)id);
  atomic_fetch_min(&zeros, -0.0f);
  atomic_fetch_max(&numbers, (float)-id);
  atomic_fetch_add(&wide, 0x1.0p-40 * id);
  atomic_fetch_sub(&wide, 1);
  atomic_fetch_min(&deep, -id * 1e200);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(atomic_load(&sum) == 0.5f + n * (n - 1) / 2 + 0.25f * n);
  CHECK(atomic_load(&least) == 11.0f - n);
  CHECK(atomic_load(&most) == ((n - 1) & ~1));
  CHECK(as_int(atomic_load(&zeros)) == INT_MIN);
  CHECK(atomic_load(&numbers) == 0.0f);
  CHECK(atomic_load(&wide) == 1.0 - n + 0x1.0p-40 * (n * (n - 1) / 2));
  CHECK(atomic_load(&deep) == -1e200 * (n - 1));
  // Results are the old values.
  atomic_float own;
  atomic_double real;
  atomic_init(&own, 1.5f);
  atomic_init(&real, -1.0);
  CHECK(add_to(&own, id) == 1.5f && add_to((local atomic_float *)&most, 0.0f) == ((n - 1) & ~1));
  CHECK(atomic_fetch_sub(&own, 1.0f) == id + 1.5f && atomic_load(&own) == id + 0.5f);
  CHECK(atomic_fetch_max(&own, NAN) == id + 0.5f && atomic_load(&own) == id + 0.5f);
  CHECK(atomic_fetch_min_explicit(&real, -2, memory_order_seq_cst) == -1.0 && atomic_load(&real) == -2.0);
  CHECK(atomic_fetch_max(&real, 2.0f) == -2.0 && atomic_exchange(&real, 7.0) == 2.0 && atomic_load(&real) == 7.0);
  global atomic_float *mine = (global atomic_float *)&out[get_global_id(0)];
  atomic_store(mine, -3.0f);
  CHECK(atomic_fetch_add(mine, 1.0f) == -3.0f && atomic_fetch_sub(mine, 0.5f) == -2.0f);
  CHECK(atomic_fetch_min(mine, -2.0f) == -2.5f && atomic_fetch_max(mine, id & 1 ? 5.0f : -9.0f) == -2.5f);
  CHECK(atomic_load(mine) == (id & 1 ? 5.0f : -2.5f));
  // Denormal numbers, as operands and as sums; the operands are no constants.
  volatile float one = 1.0f;
  const float tiny = 0x1p-149f * one, normal = 0x1p-126f * one, large = 0x1p-101f * one;
  atomic_store(mine, tiny);
  CHECK(atomic_fetch_add_explicit(mine, one - 1.0f, memory_order_relaxed) == tiny && atomic_load(mine) == tiny);
  CHECK(atomic_fetch_add(mine, tiny) == tiny && as_int(atomic_load(mine)) == 2);
  CHECK(add_to(mine, -3 * tiny) == 2 * tiny && atomic_load(mine) == -tiny);
  CHECK(atomic_fetch_add(mine, normal) == -tiny && as_int(atomic_load(mine)) == 0x7fffff);
  CHECK(atomic_fetch_sub(mine, 2 * normal) == normal - tiny && atomic_load(mine) == -normal - tiny);
  CHECK(atomic_fetch_add_explicit(mine, normal, memory_order_relaxed, memory_scope_device) == -normal - tiny);
  CHECK(atomic_fetch_add(mine, large) == -tiny && atomic_fetch_sub(mine, large) == large);
  CHECK(as_int(atomic_load(mine)) == 0);
  atomic_store(mine, -0.0f);
  CHECK(as_int(add_to(mine, -0.0f)) == INT_MIN && as_int(add_to(mine, 0.0f)) == INT_MIN);
  CHECK(as_int(add_to(mine, NAN)) == 0 && isnan(add_to(mine, large)) && isnan(atomic_load(mine)));
  DONE;
}
