// check: --arg out=64 --arg in=64:index --global 8x8 --local 8x8
// Indices run from -1 to 8 and are wrapped to 0 to 7 before they are used.
kernel void life_sum(global int *out, global const int *in) {
    local int tile[8][8];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[8 * y + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += tile[(y + dy) & 7][(x + dx) & 7];
    out[8 * y + x] = sum - tile[y][x];
}
