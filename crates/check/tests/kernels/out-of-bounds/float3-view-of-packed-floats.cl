// check: --arg out=16 --arg xyz=48:index --global 16 --local 8
// A float3 takes as much memory as a float4, so that an array of 16 needs 64 floats and not 48.
kernel void heights(global float *out, global const float *xyz) {
    global const float3 *points = (global const float3 *)xyz;
    size_t i = get_global_id(0);
    float3 p = points[i]; //~ out-of-bounds
    out[i] = p.y;
}
