// check: --arg in=64:index --arg first=16 --arg total=1 --global 64 --local 16
// The accumulator is not atomic, but only one work-item of one group touches it.
kernel void total_of_first(global const int *in, global int *first, global int *total)
{
    if (get_group_id(0) != 0)
        return;
    size_t l = get_local_id(0);
    first[l] = in[l] * 2;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (l == 0)
        for (int i = 0; i < 16; i++)
            total[0] += first[i];
}
