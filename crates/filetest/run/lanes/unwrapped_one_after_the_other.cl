// The bound of the second loop is what the first one leaves; each gets a copy whose indices do not wrap.
// run: global=4 local=4
// arg: buffer uint 1024 = random 5
// arg: value uint 10
// arg: buffer uint 16 = zero
kernel void k(global const uint *a, uint n, global uint *out) {
  uint sum = 0, j, i;
  const uint g = get_global_id(0);
  for (j = 0; j < n + g; j++) {
    uint v = a[j * 7 + 6];
    sum = sum * 3 + v;
    if (v == 9999) break;
  }
  out[g * 4] = j;
  for (i = 0; i < j; i++) sum = sum * 5 + a[i * 5 + 3];
  out[g * 4 + 1] = sum;
  out[g * 4 + 2] = i;
}
