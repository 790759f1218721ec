// Arithmetic, conversions, control flow, structures and arrays. Each kernel writes 16 words for each work-item.

typedef struct {
    char tag;
    int3 at;
    float weights[3];
} point;

constant int table[2][3] = {{1, 2, 3}, {-4, 5, 6}};
constant point origin = {7, {1, 2, 3}, {0.5f, 1.5f, 2.5f}};

kernel void integers(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    int a = in[i], b = in[i + 1] | 1;
    global int *o = out + 16 * i;
    o[0] = a + b * 3 - (a ^ b);
    o[1] = a / b;
    o[2] = a % b;
    o[3] = (uint)a / (uint)b;
    o[4] = (uint)a % (uint)b;
    o[5] = a << (b & 31);
    o[6] = a >> (b & 31);
    o[7] = (uint)a >> (b & 31);
    o[8] = (a < b) + 2 * (a <= b) + 4 * ((uint)a > (uint)b) + 8 * ((uint)a >= (uint)b) + 16 * (a == b) + 32 * !a;
    o[9] = ~a & -b;
    o[10] = (char)a + (short)b;
    o[11] = (uchar)a * (ushort)b;
    long l = (long)a * b;
    o[12] = (int)(l >> 17) + (int)((ulong)l % 1000003u);
    o[13] = convert_char_sat(a) + convert_ushort_sat(b) + convert_uint_sat((long)a * 5) + convert_int_sat((ulong)l);
    o[14] = popcount(a) + clz(b) + ctz(b);
    o[15] = a > 0 && b > 0 ? a : a < 0 || b < 0 ? b : 77;
}

kernel void floats(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    float a = in[i] / 65536.0f, b = in[i + 1] / 1024.0f + 0.25f;
    global int *o = out + 16 * i;
    o[0] = as_int(a + b);
    o[1] = as_int(a - b);
    o[2] = as_int(a / b);
    o[3] = as_int(-a);
    o[4] = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b) + 32 * isunordered(a, b);
    o[5] = convert_int_rte(a) + convert_int_rtz(b) + convert_int_rtp(a) + convert_int_rtn(b);
    o[6] = convert_uchar_sat(a) + convert_short_sat_rte(b) + convert_uint_sat(b);
    o[7] = as_int(convert_float_rtp(in[i])) ^ as_int(convert_float_rtz((uint)in[i]));
    double d = (double)a * b;
    o[8] = as_int2(d).x;
    o[9] = as_int2(d).y;
    o[10] = as_int((float)d) ^ as_int(convert_float_rtn(d));
    o[11] = convert_int(d * 3) + (int)convert_long(d);
    o[12] = as_int(fmod(a, b));
    o[13] = isnan(a) + 2 * isinf(b) + 4 * isfinite(a) + 8 * isnormal(b) + 16 * signbit(a);
    o[14] = as_int(in[i] & 1 ? a : b);
    o[15] = as_int((float)(long)a);
}

kernel void vectors(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    int4 a = vload4(0, in + i), b = (int4)(in[i + 1], 3, in[i + 2], -9);
    int3 c = a.xyz * b.wzy;
    int8 d = (int8)(a.even, b.odd, a.lo, b.hi);
    int16 e = (int16)(d, d.s76543210);
    e.s3 = c.y;
    vstore16(e + e.sfedcba9876543210, i, out);
    out[16 * i] += any(a < b) + 2 * all(a.xy != b.yx);
    out[16 * i + 1] += c.z;
    float3 f = convert_float3(c) * 0.5f;
    out[16 * i + 2] += (int)dot(f, f.zxy);
    char16 g = as_char16(a);
    out[16 * i + 3] ^= g.s5 + as_uchar4(b.y).w + select(a, b, a > b).z;
}

static int collatz(int n, int limit)
{
    int steps = 0;
    while (n != 1 && steps < limit) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

kernel void control(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    int n = (in[i] & 255) + 1, sum = 0;
    for (int k = 0; k < n; k++) {
        if (k % 7 == 3)
            continue;
        if (sum > 5000)
            break;
        switch ((n + k) & 7) {
        case 0: sum += 1; break;
        case 1: sum ^= 5;
        case 2: sum += k; break;
        case 5: sum -= 3; break;
        default: sum += 2;
        }
    }
    out[16 * i] = sum;
    out[16 * i + 1] = collatz(n, 200);
    switch ((long)in[i] << 20) {
    case 1L << 20: out[16 * i + 2] = 1; break;
    case -(3L << 20): out[16 * i + 2] = 2; break;
    default: out[16 * i + 2] = 3;
    }
    int k = n & 3;
again:
    out[16 * i + 3 + k] = k * n;
    if (k-- > 0)
        goto again;
}

static point moved(point p, int by)
{
    p.at += by;
    p.weights[by & 1] *= 2;
    return p;
}

kernel void records(global int *out, global const int *in, point given, global point *store)
{
    size_t i = get_global_id(0);
    int local_table[5] = {9, 8, 7, 6, 5};
    local_table[in[i] & 3] += 100;
    point p = moved(given, in[i] & 15), q = moved(origin, 2);
    store[i] = p;
    store[i].tag = (char)i;
    global int *o = out + 16 * i;
    o[0] = p.at.x + p.at.y * p.at.z;
    o[1] = (int)(p.weights[0] * 4 + p.weights[1] * 8 + p.weights[2] * 16);
    o[2] = q.at.x + q.tag + (int)(q.weights[0] * 4);
    o[3] = table[in[i] & 1][(uint)in[i] % 3];
    o[4] = local_table[0] + local_table[1] * 2 + local_table[2] * 4 + local_table[(uint)in[i] % 5];
    o[5] = store[i].at.z + store[i].tag + (int)sizeof(point);
    union { float f; uint u; uchar c[4]; } u;
    u.f = in[i];
    o[6] = u.u + u.c[2];
}
