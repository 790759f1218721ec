// check: --arg sums=32:1 --global 32 --local 16
// A step's writes are not ordered before the next step's reads.
kernel void scan(global int *sums)
{
    uint l = get_local_id(0), g = get_global_id(0);
    for (uint d = 1; d < 16; d <<= 1) {
        int before = l >= d ? sums[g - d] : 0; //~ race-global
        barrier(CLK_GLOBAL_MEM_FENCE);
        sums[g] += before; //~ race-global
    }
}
