// check: --arg out=96 --arg in=96:index --global 12x8 --local 4x4
// A tile with a border of one; loads beyond the edges of the picture take the pixel at the edge.
#define T 4
kernel void dilate(global int *out, global const int *in) {
    local int tile[T + 2][T + 2];
    int w = get_global_size(0), h = get_global_size(1);
    int lx = get_local_id(0), ly = get_local_id(1);
    int left = get_group_id(0) * T - 1, top = get_group_id(1) * T - 1;
    for (int y = ly; y < T + 2; y += T)
        for (int x = lx; x < T + 2; x += T)
            tile[y][x] = in[clamp(top + y, 0, h - 1) * w + clamp(left + x, 0, w - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int most = 0;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            most = max(most, tile[ly + y][lx + x]);
    out[get_global_id(1) * w + get_global_id(0)] = most;
}
