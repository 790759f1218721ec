// check: --arg in=64:index --arg out=64 --global 16x4 --local 16x1
// The condition is on local ids, but it holds for each work-item of a group of one row.
kernel void reverse_rows(global const int *in, global int *out)
{
    local int row[16];
    size_t x = get_local_id(0), y = get_global_id(1);
    if (get_local_id(1) == 0 && x < get_local_size(0)) {
        row[x] = in[y * 16 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[y * 16 + x] = row[15 - x];
    }
}
