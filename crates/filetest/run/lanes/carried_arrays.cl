// Private arrays that live across barriers: sums that loops index, filled by an initialiser, by some work-items only,
// or between two barriers; of short vectors, bytes and rows; of several sizes; arrays whose addresses live across a
// barrier too, and may be computed from memory; barriers in loops, and
// ones in a branch on what is loaded.
// run: global=64 local=32
// run: global=39 local=13
// run: global=16x4 local=8x4
// arg: buffer int 16384 = zero
// arg: buffer int 1024 = random 5
// arg: value int 6

kernel void k(global int *out, global const int *in, int n) {
  local int tile[64];
  const int l = get_local_id(0) + get_local_id(1) * get_local_size(0), size = get_local_size(0) * get_local_size(1);
  const int g = get_global_id(0) + get_global_id(1) * get_global_size(0);
  global int *to = out + g * 64;

  // Sums of a loop with barriers, as in a product of tiles.
  int sum[4][5] = {{1}, {0, 2}};
  for (int t = 0; t < n; t++) {
    tile[l] = in[t * 64 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < size; k++)
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++)
          sum[i][j] += tile[k] * (i + 1) ^ tile[(l + j) % size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      to[i * 5 + j] = sum[i][j];

  // An array that some write, one that lives between two barriers only, and short vectors.
  int some[6], between[8];
  int4 vectors[3] = {(int4)(l), (int4)(1), (int4)(n)};
  for (int i = 0; i < 6; i++)
    some[i] = in[l + i];
  if (l & 1)
    for (int i = 0; i < n; i++)
      some[i % 6] = i * l;
  vectors[(l + n) % 3] += 7;
  barrier(CLK_LOCAL_MEM_FENCE);
  tile[l] = some[l % 6];
  for (int i = 0; i < 8; i++)
    between[(i + l) & 7] = some[(i + n) % 6];
  barrier(CLK_LOCAL_MEM_FENCE);
  int all = 0;
  for (int i = 0; i < 8; i++)
    all = all * 3 + between[i] + tile[(l + i) % size];
  to[20] = all;
  to[21] = vectors[l % 3].x + vectors[(l + 1) % 3].w;

  // Bytes; an array of structures with members of two sizes; an address that lives across the barrier.
  uchar bytes[24];
  struct { int a; short b, c; } records[3];
  int kept[7];
  for (int i = 0; i < 24; i++)
    bytes[i] = in[i + l];
  for (int i = 0; i < 3; i++) {
    records[i].a = l * i;
    records[i].b = n;
    records[(i + l) % 3].c = i;
  }
  for (int i = 0; i < 7; i++)
    kept[i] = i;
  int *const at = &kept[(in[l] & 0xff) % 7];
  *at = 50;
  barrier(CLK_LOCAL_MEM_FENCE);
  *at += bytes[(l + n) % 24];
  to[22] = kept[(l + 2) % 7] + kept[(in[l] & 0xff) % 7];
  to[23] = records[l % 3].a + records[n % 3].b * 3 + records[(l + 1) % 3].c;

  // For all that is known of what is loaded, only some work-items come to the barriers.
  int turns[18];
  for (int i = 0; i < 18; i++)
    turns[i] = i * l;
  int last = 0;
  for (int i = 0; i < 9; i++) {
    turns[(i + l) % 18] += last;
    if (in[1000 + i] != l) {
      tile[l] = turns[i];
      barrier(CLK_LOCAL_MEM_FENCE);
      last = tile[(l + 1) % size] + turns[17 - i];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  for (int i = 0; i < 18; i++)
    to[24 + i] = turns[i];
}
