// Stores at a stride of two to four elements, between which nothing may be written: elements, short vectors in place,
// fields of records; of 8 to 64 bits; in branches; through indices that may wrap; and loads right after them. Each
// buffer ends with the last element that is stored.
// run: global=64 local=64
// run: global=61 local=61
// run: global=60 local=12
// run: global=64 local=16 offset=0
// arg: buffer uint 127 = random 1
// arg: buffer float 256 = random 2
// arg: buffer uchar 193 = random 3
// arg: buffer ushort 190 = random 4
// arg: buffer double 128 = random 5
// arg: buffer float 192 = random 6
// arg: value uint 2
// arg: buffer float 192 = random 7
// arg: buffer uchar 65536 = random 8
kernel void k(global uint *pairs, global float3 *points, global uchar *bytes, global ushort *shorts, global double *wide,
              global float *fields, uint two, global float *updated, global uchar *wrapped) {
  const size_t i = get_global_id(0);
  const uint u = get_global_id(0);
  pairs[2 * i] += 1;
  if (pairs[2 * i] & 4)
    pairs[2 * u] ^= (uint)i;
  const float3 p = points[i];
  points[i] = p.zxy * 0.5f + 1.0f;
  bytes[3 * i + 1] = (uchar)(i * 7);
  if (i % 5)
    bytes[3 * i] += 1;
  shorts[3 * i] = (ushort)(i + bytes[3 * i + 1]);
  if (i < 61)
    vstore2((ushort2)(3, (ushort)i), 0, shorts + 3 * i);
  wide[2 * i] = wide[2 * i] > 0.0 ? 1.0 : (double)i;
  // Fields of a record, one after the other; the last of them through an index of 32 bits.
  const float x = fields[3 * i], y = fields[3 * i + 1], z = fields[3 * i + 2];
  fields[3 * i] = y;
  fields[3 * i + 1] = z + fields[3 * i];
  fields[(two + 1) * u + 2] = x;
  // Each field updated in turn, by itself and by a loop; the last one needs the first.
  updated[3 * i] += 1.0f;
  updated[3 * i + 1] *= 2.0f;
  for (int k = 0; k < 3; k++)
    updated[3 * u + k] += 0.5f;
  updated[3 * i + 2] -= updated[3 * i];
  // Records at indices of 16 bits, which wrap in the midst of a vector, and of a record.
  const ushort k = (ushort)(2 * u + 65515u);
  wrapped[k] = (uchar)i;
  wrapped[(ushort)(k + 1)] = (uchar)(5 * i);
  const ushort half_way = (ushort)(2 * u + 32768u);
  wrapped[half_way] = (uchar)(3 * i);
  wrapped[(ushort)(half_way + 1)] = (uchar)(7 * i);
}
