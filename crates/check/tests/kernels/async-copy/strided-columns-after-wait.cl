// check: --arg m=64:index --arg out=64 --global 64 --local 8
// Columns are gathered, and scattered in reverse order; each copy is waited for.
kernel void rotate_half(global const float4 *m, global float4 *out)
{
    local float4 column[8], row[8];
    size_t l = get_local_id(0), c = get_group_id(0);
    event_t moved = async_work_group_strided_copy(column, m + c, 8, 8, 0);
    wait_group_events(1, &moved);
    row[7 - l] = column[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    moved = async_work_group_strided_copy(out + (7 - c), row, 8, 8, 0);
    wait_group_events(1, &moved);
}
