// check: --arg sums=3 --arg in=40:index --global 40 --local 16 -cl-std=CL3.0
// The last group has eight work-items, which fill half of the tile; its first one adds up all of it.
#define TILE 16
kernel void block_sums(global int *sums, global const int *in) {
    local int tile[TILE];
    int l = get_local_id(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        int sum = 0;
        for (int k = 0; k < TILE; k++)
            sum += tile[k];
        sums[get_group_id(0)] = sum; //~ uninitialised
    }
}
