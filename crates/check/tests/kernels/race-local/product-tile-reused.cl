// check: --arg a=64:index --arg b=64:2 --arg c=64 --arg n=8 --global 8x8 --local 4x4
// A second barrier is missing at the end of the tile loop: tiles are overwritten while others still read them.
kernel void product(global const float *a, global const float *b, global float *c, int n)
{
    local float ta[4][4], tb[4][4];
    int x = get_local_id(0), y = get_local_id(1);
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += 4) {
        ta[y][x] = a[row * n + t + x];   //~ race-local
        tb[y][x] = b[(t + y) * n + col]; //~ race-local
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 4; k++)
            sum += ta[y][k] * tb[k][x]; //~ race-local
    }
    c[row * n + col] = sum;
}
