// check: --arg out=64 --arg in=64:index --global 8x8 --local 8x8
// A pointer to the whole tile's first element, made by a cast, runs over all rows.
kernel void reverse_tile(global int *out, global const int *in) {
    local int tile[8][8];
    local int *flat = (local int *)tile;
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[8 * y + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[8 * y + x] = flat[63 - (8 * y + x)];
}
