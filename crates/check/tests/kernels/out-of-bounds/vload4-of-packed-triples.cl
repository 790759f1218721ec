// check: --arg out=16 --arg points=48:index --global 16 --local 16
// Points of three floats each, read with a step of four: the last four points lie behind the buffer.
kernel void lengths(global float *out, global const float *points) {
    size_t i = get_global_id(0);
    float3 p = vload4(i, points).xyz; //~ out-of-bounds
    out[i] = dot(p, p);
}
