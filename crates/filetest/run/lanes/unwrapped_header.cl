// The header reads at a counter that is larger than the bound, where the index wraps.
// run: global=4 local=4
// arg: buffer uint 64 = random 5
// arg: value uint 0x80000001
// arg: value uint 10
// arg: buffer uint 4 = zero
kernel void k(global const uint *a, uint s, uint n, global uint *out) {
  uint sum = 0;
  for (uint j = s + get_global_id(0); sum = sum * 3 + a[j * 2], j < n; j++) ;
  out[get_global_id(0)] = sum;
}
