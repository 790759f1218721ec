// Barriers: in straight code, loops, branches that the whole group takes, and functions; local memory between.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

int reduce(local int *t) {
  int i = get_local_id(0), n = get_local_size(0);
  for (int w = 1; w < n; w *= 2) {
    int v = i + w < n ? t[i + w] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    t[i] += i % (2 * w) == 0 ? v : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return t[0];
}
kernel void test(global int *out) {
  local int t[8];
  int i = get_local_id(0), n = get_local_size(0);
  int keep = i * 3 + 1;
  int arr[4];
  for (int k = 0; k < 4; k++) arr[k] = i + k;
  t[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(t[(i + 1) % n] == (i + 1) % n);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  t[i] = i + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  int total = reduce(t);
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(total == n * (n + 1) / 2);
  CHECK(keep == i * 3 + 1 && arr[3] == i + 3);
  if (n > 2) {
    t[i] = keep;
    barrier(CLK_LOCAL_MEM_FENCE);
    CHECK(t[n - 1 - i] == (n - 1 - i) * 3 + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  int rounds = 0;
  do {
    barrier(CLK_LOCAL_MEM_FENCE);
    t[i] = rounds + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    arr[rounds & 3] += t[(i + rounds) % n];
    rounds++;
  } while (rounds < n);
  CHECK(rounds == n);
  CHECK(arr[0] >= i);
  DONE;
}
