// check: --arg out=384 --arg in=384:index --global 24x16 --local 8x8
// Source and result differ in their row lengths, and the tile has a column that is never used.
#define T 8
kernel void transpose(global float *out, global const float *in) {
    local float tile[T][T + 1];
    int w = get_global_size(0), h = get_global_size(1);
    int lx = get_local_id(0), ly = get_local_id(1);
    int left = get_group_id(0) * T, top = get_group_id(1) * T;
    tile[ly][lx] = in[(top + ly) * w + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(left + ly) * h + top + lx] = tile[lx][ly];
}
