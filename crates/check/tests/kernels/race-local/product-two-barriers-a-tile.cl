// check: --arg a=64:index --arg b=64:2 --arg c=64 --arg n=8 --global 8x8 --local 4x4
// The tiles are overwritten in each round, with a barrier before and after. The fence for global memory does no harm.
#define FENCES (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

kernel void product(global const float *a, global const float *b, global float *c, int n)
{
    local float ta[4][4], tb[4][4];
    int x = get_local_id(0), y = get_local_id(1);
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += 4) {
        ta[y][x] = a[row * n + t + x];
        tb[y][x] = b[(t + y) * n + col];
        barrier(FENCES);
        for (int k = 0; k < 4; k++)
            sum += ta[y][k] * tb[k][x];
        barrier(FENCES);
    }
    c[row * n + col] = sum;
}
