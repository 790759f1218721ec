// Records whose fields are stored one after the other: two to four fields, of 8 to 64 bits, in any order, with
// computations between the stores; in branches; twice the same field; with a load, an atomic operation or a store to
// another record between them; and through 32-bit indices.
// run: global=64 local=64
// run: global=61 local=61
// run: global=60 local=12
// arg: buffer float 512 = random 1
// arg: buffer uchar 1024 = random 2
// arg: buffer long 512 = random 3
// arg: buffer ushort 640 = random 4
// arg: buffer int 64 = zero
// arg: value uint 3
kernel void k(global float *f, global uchar *pixels, global long *wide, global ushort *shorts, global int *count,
              uint three) {
  const size_t i = get_global_id(0);
  const int n = get_global_id(0);
  const uint u = get_global_id(0);
  const float x = f[2 * i], y = f[2 * i + 1];
  // A complex number; its parts the other way round.
  f[2 * i + 1] = x * y;
  f[2 * i] = y - x;
  // Three fields, through an int index.
  const float z = f[200 + n];
  f[300 + 3 * n] = x;
  f[300 + 3 * n + 1] = z + x;
  f[300 + 3 * n + 2] = y * 2.0f;
  // Four bytes, of which one is stored twice.
  const uchar r = pixels[4 * i], g = pixels[4 * i + 1], b = pixels[4 * i + 2], a = pixels[4 * i + 3];
  pixels[4 * i + 2] = r;
  pixels[4 * i] = b;
  pixels[4 * i + 1] = (uchar)(g + 1);
  pixels[4 * i + 2] = a;
  pixels[4 * i + 3] = (uchar)i;
  if (g & 1) {
    pixels[256 + 4 * i] = a;
    pixels[257 + 4 * i] = b;
    pixels[258 + 4 * i] = g;
    pixels[259 + 4 * i] = r;
  }
  // Only three of four.
  pixels[512 + 4 * i] = 1;
  pixels[514 + 4 * i] = 2;
  pixels[515 + 4 * i] = 3;
  // Others may see what is stored first.
  wide[2 * i] = r;
  atomic_add(&count[wide[2 * i] & 31], 1);
  wide[2 * i + 1] = g;
  wide[200 + 2 * i] = b;
  wide[200 + 2 * i + 1] = -(long)i;
  // Two records in turns; and a record whose fields two work-items share.
  shorts[2 * i] = r;
  shorts[200 + 2 * i] = g;
  shorts[2 * i + 1] = b;
  shorts[200 + 2 * i + 1] = a;
  shorts[400 + three * u] = (ushort)(7 * u);
  shorts[400 + three * u + 1] = (ushort)(r + g);
  shorts[400 + three * u + 2] = a;
}
