// check: --arg sums=4 --arg in=64:index --global 64 --local 16
// The loop of the first work-item of a group ends with <= instead of <.
#define GROUP 16
kernel void sum_of_group(global int *sums, global const int *in) {
    local int tile[GROUP];
    int lid = get_local_id(0);
    tile[lid] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
        int sum = 0;
        for (int k = 0; k <= GROUP; k++)
            sum += tile[k]; //~ out-of-bounds
        sums[get_group_id(0)] = sum;
    }
}
