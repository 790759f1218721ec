// check: --arg out=16 --arg points=48:index --global 16 --local 16
// A float3 takes 16 bytes in memory, but vload3 reads three floats: the last triple ends with the buffer.
kernel void lengths(global float *out, global const float *points) {
    size_t i = get_global_id(0);
    float3 p = vload3(i, points);
    out[i] = dot(p, p);
}
