// check: --arg in=32:index --arg out=32 --arg mode=1 --global 32 --local 16
// Cases with barriers of their own; the switch is on an argument.
kernel void arrange(global const int *in, global int *out, int mode)
{
    local int tile[16];
    size_t l = get_local_id(0), g = get_global_id(0);
    switch (mode) {
    case 0:
        tile[l] = in[g];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[g] = tile[15 - l];
        break;
    case 1:
        tile[15 - l] = in[g];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[g] = tile[l];
        break;
    default:
        out[g] = in[g];
    }
}
