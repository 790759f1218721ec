// check: --arg sums=4 --arg in=48:index --global 48 --local 12
// The tree adds 16 elements, but groups of twelve fill only twelve.
kernel void reduce(global int *sums, global const int *in) {
    local int part[16];
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    for (int step = 8; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step)
            part[l] += part[l + step];
    }
    if (l == 0)
        sums[get_group_id(0)] = part[0]; //~ uninitialised
}
