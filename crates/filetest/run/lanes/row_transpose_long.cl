// Rows as long as several registers, of numbers and of short vectors, with every possible remainder of iterations.
// run: global=37 local=8 kernel=rows
// run: global=48 local=16 kernel=rows
// run: global=13 local=13 kernel=rows
// run: global=64 local=64 kernel=rows
// arg: buffer uint 384 = zero
// arg: buffer uint 4224 = random 7
// arg: value uint 65
// arg: value uint 17

uint numbers(global const uint *in, uint columns, uint pitch, uint r) {
  uint sum = 0;
  for (uint c = 0; c < columns; c++)
    sum = sum * 3 + in[(size_t)r * pitch + c];
  return sum;
}

uint fours(global const uint *in, uint columns, uint pitch, uint r) {
  uint4 sum = 0;
  for (uint c = 0; c < columns / 4; c++)
    sum = sum * 5 + vload4(c, in + r * pitch);
  return sum.x + 3 * sum.y + 7 * sum.z + 11 * sum.w;
}

uint twos(global const uint *in, uint columns, uint pitch, uint r) {
  uint2 sum = 0;
  for (uint c = 0; c < columns / 2; c++)
    sum = sum * 9 ^ vload2(c, in + r * pitch);
  return sum.x + 3 * sum.y;
}

// Both in one loop, and a step of more than one.
uint mixed(global const uint *in, uint columns, uint pitch, uint r) {
  uint sum = 0;
  for (uint c = 0; c + 4 * c < columns; c++)
    sum = sum * 3 + in[r * pitch + c] + vload4(c, in + r * pitch).z;
  for (uint c = 0; c < columns; c += 3)
    sum = sum * 7 ^ in[r * pitch + c];
  return sum;
}

// As many iterations as a register has elements, and one less.
uint constants(global const uint *in, uint pitch, uint r) {
  uint sum = 0;
  for (uint c = 0; c < 16; c++)
    sum = sum * 3 + in[r * pitch + c];
  for (uint c = 0; c < 15; c++)
    sum = sum * 5 + in[r * pitch + c];
  return sum;
}

kernel void rows(global uint *out, global const uint *in, uint pitch, uint step) {
  uint r = get_global_id(0);
  uint a = 0, b = 0, c = 0, d = 0;
  for (uint columns = 0; columns <= pitch; columns += step % 16) {
    a = a * 31 + numbers(in, columns, pitch, r);
    b = b * 31 + fours(in, columns, pitch, r);
    c = c * 31 + twos(in, columns, pitch, r);
    d = d * 31 + mixed(in, columns, pitch, r);
  }
  if (r % 5 != 2)
    d += numbers(in, 40, pitch, r) + fours(in, 64, pitch, r);
  out[6 * r] = a;
  out[6 * r + 1] = b;
  out[6 * r + 2] = c;
  out[6 * r + 3] = d;
  out[6 * r + 4] = constants(in, pitch, r);
}
