// Halves in lanes (cl_khr_fp16): contiguous, strided, gathered and scattered accesses, short vectors, divergent branches
// and loops, private arrays, values that live across barriers, trees in local memory, one accumulator per row, and
// constants that are the same for all. Inputs are bits of every kind; a NaN is stored as one of them.
// run: global=64 local=16 kernel=streams
// run: global=37 local=37 offset=3 kernel=streams
// run: global=64 local=16 kernel=indexed
// run: global=45 local=9 kernel=indexed
// run: global=64 local=32 kernel=masked
// run: global=51 local=17 offset=1 kernel=masked
// run: global=29x2 local=29x1 kernel=masked
// run: global=64 local=16 kernel=short_vectors
// run: global=33 local=11 kernel=short_vectors
// run: global=64 local=64 kernel=groups
// run: global=48 local=8 kernel=groups
// run: global=33 local=20 kernel=groups
// run: global=40 local=10 kernel=rows
// arg: buffer ushort 2048 = random 5
// arg: buffer int 512 = random 6
// arg: buffer ushort 4096 = zero
// arg: value ushort 0x3e01
// arg: value int 7
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define KERNEL(name) \
  kernel void name(global const half *in, global const int *n, global half *out, half a, int uniform)

size_t number(void) { return get_global_id(0) - get_global_offset(0) + get_global_id(1) * 64; }

half tidy(half x) { return isnan(x) ? as_half((ushort)0x7e00) : x; }

// Denormal, everyday and large ones.
half some(global const half *in, size_t i) { return as_half((ushort)(as_ushort(in[i]) & 0xbfff)); }

KERNEL(streams) {
  size_t i = number();
  half x = in[i], y = in[i + 1], s = some(in, i), t = some(in, i + 64);
  out[i] = tidy(x + y);
  out[128 + i] = tidy(x * y - a);
  out[256 + i] = tidy(s / t);
  out[384 + i] = tidy(fma(s, t, -a)) + tidy(mad(s, a, t));
  out[512 + 2 * i] = tidy(sqrt(fabs(x)));
  out[513 + 2 * i] = (half)(float)s + (half)((double)t * 1.001);
  out[640 + 3 * i] = convert_half_rtz((float)s * 1.0001f);
  out[641 + 3 * i] = convert_half_rtp(n[i]);
  out[642 + 3 * i] = (half)(short)n[i] + (half)(uchar)n[i];
  out[1024 + i] = as_half((short)(convert_short_sat_rte(x) ^ (short)convert_int(s)));
  out[1152 + i] = fmin(tidy(x), y) + fmax(s, t) + clamp(s, -a, a) + sign(x);
  out[1280 + i] = tidy(floor(s) + ceil(t) + trunc(s) + rint(t) + round(s));
  out[1408 + i] = tidy(exp(s) + log(fabs(t)) * sin(s) + pow(fabs(s), t) + hypot(s, t));
  out[1536 + i] = as_half((short)(isless(s, t) + 2 * isequal(x, y) + 4 * signbit(x) + 8 * isnormal(s) + 16 * isinf(x)));
  int e;
  half m = frexp(s, &e), w, f = fract(s, &w);
  out[1664 + i] = tidy(ldexp(m, e + uniform) + f + w + nextafter(s, t) + ilogb(t));
}

KERNEL(indexed) {
  size_t i = number();
  half sum = 0;
  for (int k = 0; k < uniform; k++)
    sum += some(in, (n[i] + k * n[i + 1]) & 1023);
  out[i] = tidy(sum);
  out[512 + ((i * 37) & 63) * 5] = some(in, n[i] & 511) * a;
  out[1024 + i * uniform] = some(in, 1 + 2 * i);
  half table[8];
  for (int k = 0; k < 8; k++)
    table[k] = some(in, i + k) + k;
  table[n[i] & 7] *= 2;
  out[2048 + i] = tidy(table[n[i + 2] & 7] - table[uniform]);
  out[2304 + i] = in[uniform] != in[uniform] ? a : in[uniform];
}

KERNEL(masked) {
  size_t i = number();
  half x = some(in, i), y = a;
  if (x > 1)
    y = x / a;
  else if (n[i] & 1)
    y = sqrt(fabs(x)) + y;
  int rounds = 0;
  while (y > 0.01h && rounds < 40) {
    y *= (n[i] & 2) ? 0.5h : 0.75h;
    if (y == x)
      break;
    rounds++;
  }
  out[i] = tidy(y);
  out[256 + i] = rounds;
  if (n[i] & 4)
    out[512 + i] = x;
  half z = (n[i] & 8) ? x : -a;
  out[768 + i] = z > 0 && z < 1 ? z : (n[i] & 16 ? (half)n[i + 1] : (half)rounds);
  switch (n[i] & 3) {
    case 0: out[1024 + i] = tidy(exp2(x)); break;
    case 1: out[1024 + i] = tidy(remainder(x, a)); break;
    case 2: out[1024 + i] = (half)(x >= y); break;
    default: out[1024 + i] = tidy(tanpi(x));
  }
}

KERNEL(short_vectors) {
  size_t i = number();
  half4 v = vload4(i, in), w = vload4(i + 64, in);
  v = isnan(v) ? (half4)1 : v;
  w = isnan(w) ? (half4)a : w;
  half4 r = v * w + a;
  r = isnan(r) ? v.wzyx : r;
  vstore4(r, i, out);
  half3 u = vload3(i, in + 5);
  u = select(u, (half3)2, isnan(u) | isinf(u));
  vstore3(u.zxy - u, i, out + 512);
  half8 e = (half8)(v < w ? v : w, convert_half4(convert_int4_sat_rtn(w)));
  vstore8(e, i, out + 1024);
  out[2048 + i] = tidy(dot(fmin(fabs(v), a), fmin(fabs(w), 3.0h)));
  out[2112 + i] = tidy(length(fmin(v.xyz, 8.0h)));
  out[2176 + i] = tidy(distance(clamp(v.xy, -9.0h, 9.0h), (half2)(a, 1)));
  vstore4(as_half4(shuffle(as_ushort4(v), (ushort4)(3, 1, 2, 0)) ^ (ushort4)(n[i] & 0x3ff)), i, out + 2560);
}

KERNEL(groups) {
  local half tile[64];
  size_t i = number(), l = get_local_id(0), size = get_local_size(0);
  half x = some(in, i) * 0.125h, kept = x + 1;
  tile[l] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  half other = tile[size - 1 - l];
  barrier(CLK_LOCAL_MEM_FENCE);
  tile[l] = fabs(x);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t half_size = 32; half_size > 0; half_size /= 2) {
    if (l < half_size && l + half_size < size)
      tile[l] = fmax(tile[l], tile[l + half_size]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = tidy(other - kept);
  out[256 + i] = tile[0];
}

KERNEL(rows) {
  size_t i = number();
  half most = -HALF_MAX, sum = 0;
  for (int k = 0; k < 16; k++) {
    half x = some(in, i * 16 + k);
    most = max(most, x);
    sum = fma(x, a, sum) * 0.5h;
  }
  out[i] = most;
  out[256 + i] = tidy(sum);
  for (int k = 0; k < 4; k++)
    out[512 + i * 4 + k] = tidy(sum + k);
}
