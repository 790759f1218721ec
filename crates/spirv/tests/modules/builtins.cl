// Built-in functions. Each kernel writes 16 words for each work-item.

kernel void math(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    float a = (in[i] & 1023) / 128.0f + 0.25f, b = (in[i + 1] & 255) / 64.0f + 0.5f;
    global int *o = out + 16 * i;
    o[0] = as_int(sin(a)) ^ as_int(cos(b));
    o[1] = as_int(exp2(a) + log(b)) + as_int(pow(a, b));
    o[2] = as_int(fma(a, b, 1.5f)) + as_int(sqrt(a)) + as_int(rsqrt(b));
    o[3] = as_int(floor(a) + ceil(b) + rint(a) + trunc(b) + round(a));
    o[4] = as_int(fmin(a, b)) + as_int(fmax(a, b)) + as_int(fabs(-a)) + as_int(copysign(a, -b));
    float whole, part = modf(a, &whole), angle = sincos(b, &part);
    o[5] = as_int(whole) ^ as_int(part) ^ as_int(angle);
    int e, quotient;
    float m = frexp(a, &e), r = remquo(a * 7, b, &quotient);
    o[6] = as_int(m) + e + as_int(r) + quotient;
    o[7] = as_int(ldexp(a, in[i] & 7)) + ilogb(b) + as_int(pown(a, 3)) + as_int(rootn(b, 3));
    o[8] = as_int(fract(a, &whole)) + as_int(whole);
    o[9] = as_int(clamp(a, 1.0f, 2.0f) + mix(a, b, 0.25f) + step(a, b) + smoothstep(0.0f, 4.0f, a) + sign(a));
    o[10] = as_int(degrees(a) + radians(b)) + as_int(min(a, b)) + as_int(max(a, b));
    float4 v = (float4)(a, b, a - b, 1), w = v.wzyx;
    o[11] = as_int(dot(v, w)) + as_int(length(v)) + as_int(distance(v, w));
    v = cross(v, w) + normalize(w);
    o[12] = as_int(v.x) + as_int(v.y) + as_int(v.z);
    o[13] = as_int(lgamma_r(a, &e)) + e + as_int(tgamma(b)) + as_int(erf(a));
    double d = atan2((double)a, (double)b) + cbrt((double)a);
    o[14] = as_int2(d).x ^ as_int2(d).y;
    o[15] = as_int(hypot(a, b)) + as_int(nextafter(a, b)) + as_int(maxmag(a, -b)) + as_int(fdim(a, b));
}

kernel void integers(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    int a = in[i], b = in[i + 1], c = in[i + 2];
    global int *o = out + 16 * i;
    o[0] = abs(a) + abs_diff(a, b) + abs_diff((uint)a, (uint)b);
    o[1] = add_sat(a, b) + add_sat((uint)a, (uint)b) + sub_sat(a, b) + sub_sat((uint)a, (uint)b);
    o[2] = hadd(a, b) + rhadd((uint)a, (uint)b);
    o[3] = clamp(a, -5, 5) + clamp((uint)a, 3u, 9u);
    o[4] = mad_hi(a, b, c) + mad_sat(a, b, c) + mad_sat((uint)a, (uint)b, (uint)c);
    o[5] = max(a, b) - min((uint)a, (uint)b) + max((char)a, (char)b);
    o[6] = mul_hi(a, b) + mul_hi((uint)a, (uint)b);
    o[7] = rotate(a, b) + upsample((short)a, (ushort)b) + upsample((ushort)a, (ushort)c);
    o[8] = mul24(a & 0xffff, b & 0xff) + mad24((uint)a & 0xff, (uint)b & 0xff, (uint)c);
    o[9] = bitselect(a, b, c) + select(a, b, c);
    int4 v = (int4)(a, b, c, a ^ b);
    v = shuffle(v, (uint4)(3, 1, c & 3, 0)) + shuffle2(v, v.wzyx, (uint4)(7, a & 7, 2, 5));
    o[10] = v.x + v.y * 2 + v.z * 4 + v.w * 8;
    o[11] = (int)abs((char4)((char)a, (char)b, 1, -1)).x + popcount((ushort2)((ushort)a, 1)).x;
    vstore3((int3)(a, b, c), 4, o);
    o[12] += vload2(1, in + i).y;
    o[15] = (int)mad_hi((long)a << 30, (long)b << 20, (long)c);
}

kernel void halves(global int *out, global const int *in, global half *h)
{
    size_t i = get_global_id(0);
    float a = (in[i] & 0xffff) / 77.0f;
    global half *own = h + 16 * i;
    vstore_half(a, 0, own);
    vstore_half_rtz(a, 1, own);
    vstore_half_rtp(a, 2, own);
    vstore_half_rtn(-a, 3, own);
    vstore_half4((float4)(a, 1, 2, -a), 1, own);
    vstorea_half4_rtz((float4)(a, a, 0.1f, -a), 2, own);
    float4 v = vload_half4(1, own) + vloada_half4(2, own);
    global int *o = out + 16 * i;
    o[0] = as_int(vload_half(0, own)) + as_int(vload_half(3, own));
    o[1] = as_int(v.x) + as_int(v.y) + as_int(v.z) + as_int(v.w);
    for (int k = 0; k < 12; k++)
        o[2] = o[2] * 31 + ((global ushort *)own)[k];
}
