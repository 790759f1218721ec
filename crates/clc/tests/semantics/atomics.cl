// C11 atomics need objects of atomic types, in memory that is shared.
kernel void f(global int *out, global atomic_int *a, global atomic_float *x, local atomic_flag *flag, constant int *c) {
  atomic_fetch_add(out, 1);
  atomic_fetch_add(x, 1.0f);
  atomic_flag_clear(a);
  atomic_load_explicit(a, memory_order_release, memory_scope_device);
  atomic_store_explicit(a, 1, memory_order_acquire);
  long e = 0;
  atomic_compare_exchange_strong(a, &e, 1);
  atomic_int mine;
  atomic_fetch_or(&mine, 1);
  out[0] = *a + 1;
  a[0] = 3;
  out[1] = atomic_load(a, memory_order_relaxed);
  atomic_fetch_min(a, (int2)(0));
  _Atomic int b;
  atomic_fetch_xor(x, 1.0f);
  atomic_fetch_sub_explicit(x, a, memory_order_relaxed);
}
kernel void g(atomic_int a) {}
