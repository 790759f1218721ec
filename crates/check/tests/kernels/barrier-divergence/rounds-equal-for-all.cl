// check: --arg in=16:index --arg rounds=16:3 --arg out=16 --global 16 --local 16
// Each work-item loads its own number of rounds; in this launch all of them are 3.
kernel void mix(global const int *in, global const int *rounds, global int *out)
{
    local int tile[16];
    int l = get_local_id(0), v = in[l];
    for (int i = 0; i < rounds[l]; i++) {
        tile[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v += tile[(l + 5) % 16];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = v;
}
