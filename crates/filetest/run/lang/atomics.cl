// Atomics of 32 and 64 bits on global and local memory, single work-item results.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void test(global int *out) {
  global int *g = out + get_global_id(0);
  local int l[8];
  local uint lu[8];
  local long ll[8];
  local ulong lul[8];
  local float lf[8];
  size_t i = get_local_id(0);
  *g = 10;
  l[i] = 5; lu[i] = 7u; ll[i] = 100; lul[i] = 3; lf[i] = 1.5f;
  CHECK(atomic_add(g, 5) == 10 && *g == 15);
  CHECK(atomic_sub(g, 1) == 15 && atomic_inc(g) == 14 && atomic_dec(g) == 15 && *g == 14);
  CHECK(atomic_xchg(g, -3) == 14 && atomic_min(g, -5) == -3 && atomic_max(g, 2) == -5 && *g == 2);
  CHECK(atomic_and(g, 3) == 2 && atomic_or(g, 8) == 2 && atomic_xor(g, 15) == 10 && *g == 5);
  CHECK(atomic_cmpxchg(g, 4, 9) == 5 && *g == 5 && atomic_cmpxchg(g, 5, 9) == 5 && *g == 9);
  CHECK(atomic_add(&l[i], 3) == 5 && l[i] == 8);
  CHECK(atomic_max(&lu[i], 0xfffffff0u) == 7u && atomic_min(&lu[i], 1u) == 0xfffffff0u && lu[i] == 1);
  CHECK(atomic_xchg(&lf[i], 2.5f) == 1.5f && lf[i] == 2.5f);
  CHECK(atom_add(&ll[i], 0x100000000l) == 100 && ll[i] == 0x100000064l);
  CHECK(atom_cmpxchg(&lul[i], 3ul, 1ul << 40) == 3 && atom_max(&lul[i], 2ul) == 1ul << 40);
  CHECK(atom_min(&ll[i], -5l) == 0x100000064l && atom_inc(&ll[i]) == -5 && atom_xchg(&ll[i], 0l) == -4);
  CHECK(atom_add((global int *)g, 1) == 9 && atom_or(&lul[i], 1ul) == 1ul << 40);
  DONE;
}
