// check: --arg in=64:index --arg skipped=2 --arg out=16 --global 16 --local 16
// The round that is skipped is the same for all work-items.
kernel void sum_rounds(global const int *in, int skipped, global int *out)
{
    local int tile[16];
    size_t l = get_local_id(0);
    int sum = 0;
    for (int round = 0; round < 4; round++) {
        if (round == skipped)
            continue;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l] = in[round * 16 + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[l] * tile[15 - l];
    }
    out[l] = sum;
}
