// check: --arg out=64 --arg in=64:index --global 8x8 --local 8x8
// The index 8 is the ninth column of a padded row, which the first work-item of the row fills.
kernel void gradient(global int *out, global const int *in) {
    local int tile[8][9];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[8 * y + x];
    if (x == 0)
        tile[y][8] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[8 * y + x] = tile[y][x + 1] - tile[y][x];
}
