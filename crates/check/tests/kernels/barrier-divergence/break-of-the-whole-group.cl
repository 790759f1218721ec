// check: --arg in=16:index --arg out=16 --global 16 --local 16
// The loop is left by a flag that all read between two barriers.
kernel void relax(global const int *in, global int *out)
{
    local int cells[16], changed;
    int l = get_local_id(0);
    cells[l] = in[l] * 5 % 16;
    for (int round = 0; round < 20; round++) {
        if (l == 0)
            changed = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        int v = max(cells[l], l > 0 ? cells[l - 1] : 0);
        if (v != cells[l])
            atomic_or(&changed, 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        cells[l] = v;
        if (!changed)
            break;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = cells[l];
}
