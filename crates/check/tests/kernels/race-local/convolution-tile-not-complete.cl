// check: --arg in=32:index --arg out=32 --global 32 --local 16
// The barrier stands after the halo is cleared, and not after the tile is loaded.
constant float weights[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};

kernel void convolve(global const float *in, global float *out)
{
    local float tile[20];
    size_t l = get_local_id(0), g = get_global_id(0);
    for (size_t i = l; i < 20; i += 16)
        tile[i] = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l + 2] = in[g]; //~ race-local
    float sum = 0.0f;
    for (int k = 0; k < 5; k++)
        sum += tile[l + k] * weights[k]; //~ race-local
    out[g] = sum;
}
