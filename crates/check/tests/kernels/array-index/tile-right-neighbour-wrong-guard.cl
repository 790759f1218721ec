// check: --arg out=64 --arg in=64:index --global 8x8 --local 8x8
// The test is of y and should be of x: the right neighbour of the last column is taken from the next row.
kernel void gradient(global int *out, global const int *in) {
    local int tile[8][8];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[8 * y + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    int right = y < 7 ? tile[y][x + 1] : tile[y][x]; //~ array-index
    out[8 * y + x] = right - tile[y][x];
}
