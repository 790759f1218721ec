// Conditions on sums of local ids, between barriers: with constant factors on either side, ids that count twice, numbers
// of 64 bits; and sums that wrap, in 32 bits or in 64, or are negative, for some of the work-items, before or after a
// constant is subtracted.
// run: global=64 local=64
// run: global=60x4 local=20x2
// run: global=35x3 local=35x3
// arg: buffer uint 8192 = zero
// arg: value uint 4294967290
// arg: value int -3
// arg: value ulong 4294967297
// arg: value uint 10
kernel void k(global uint *out, uint most, int minus, ulong huge, uint n) {
  const size_t lid = get_local_id(0), size = get_local_size(0);
  const uint l = lid, ly = get_local_id(1);
  const int i = l;
  global uint *to = out + (get_global_id(1) * get_global_size(0) + get_global_id(0)) * 32;
#define STEP(number, condition)                                                                                                            \
  barrier(CLK_LOCAL_MEM_FENCE);                                                                                                            \
  if (condition)                                                                                                                           \
    to[number] = l + 1;
  STEP(0, 2 * l + 3 < n)
  STEP(1, l + l <= n)
  STEP(2, lid + size / 2 < size)
  STEP(3, ly * size + lid < 3 * n)
  STEP(4, l + n + n + n + n + n + n + n + n + n + n + n + n + n + n + n + n + n + n < 19 * n)
  // Wraps for many.
  STEP(5, l + most < n)
  STEP(6, (ulong)(l + most) < n)
  STEP(7, (long)(l + most) - (long)most < (long)n)
  STEP(8, (long)10 - (long)(5 - l) < 7)
  STEP(9, n - l < n)
  STEP(10, i + minus < 5)
  STEP(11, i * minus < -5)
  STEP(12, lid + huge < huge + 4)
  STEP(13, lid * huge < n)
  STEP(14, (uint)(lid + huge) < n)
  STEP(15, lid * (huge << 31) < n)
  STEP(16, (uint)(ushort)(l + 65530) < n)
  STEP(17, l * l < n)
  STEP(18, l * 3000000000u < n)
  // A constant less.
  STEP(20, (l + 1) * n * 2 - 1 < (uint)size)
  STEP(21, i * 2 - 7 < 9)
  STEP(22, l * 2 - 7 < 9)
  STEP(23, lid * 2 - 7 <= 9)
  STEP(24, i * 2 - 7 < minus)
  STEP(25, (ulong)(l * 2 - 7) < n)
  STEP(26, (long)(l * 2 - 7) < (long)most)
  STEP(27, l - 2147483647 < most)
  STEP(28, lid * 3 - 2147483649 < huge)
  STEP(29, l - 5 < most)
  STEP(30, i - 5 <= minus)
  STEP(31, l - 5 == n)
  // Another sum in each iteration.
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < 3; k++)
    if (l + k < n)
      to[19] += l + k;
}
