// check: --arg sum=16 --arg a=16:index --arg b=16:2 --global 16 --local 8
// An array of 16 float3 has 64 floats: as floats, it is read with a step of four.
kernel void heights(global float *sum, global const float3 *a, global const float3 *b) {
    size_t i = get_global_id(0);
    global const float *flat = (global const float *)a;
    sum[i] = flat[4 * i + 1] + b[i].y;
}
