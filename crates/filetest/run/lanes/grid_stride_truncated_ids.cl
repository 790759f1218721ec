// Ids truncated to a few bits do not make a grid-stride loop.
// run: global=300 local=1
// run: global=320 local=10
// run: global=300 local=300
// arg: buffer uint 1024 = zero
// arg: buffer uint 4096 = random 7
// arg: value uint 4001

kernel void k(global uint *out, global const uint *in, uint n) {
  const uint place = get_global_id(0);
  uint a = 0, b = 0, c = 0;
  for (uint i = (uchar)(get_group_id(0) * get_local_size(0) + get_local_id(0)); i < n; i += get_global_size(0))
    a = a * 31 + in[i];
  for (uint i = (uchar)get_group_id(0) * get_local_size(0) + get_local_id(0); i < n; i += get_global_size(0))
    b = b * 31 + in[i];
  for (uint i = (uchar)get_global_id(0); i < n; i += get_global_size(0))
    c = c * 31 + in[i];
  out[place * 3] = a;
  out[place * 3 + 1] = b;
  out[place * 3 + 2] = c;
}
