// check: --arg in=32:1 --arg out=32 --global 32 --local 32
// Hillis-Steele scan in place: there is no barrier between the reads and the writes of one step.
kernel void scan(global const int *in, global int *out)
{
    local int sums[32];
    int l = get_local_id(0);
    sums[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 32; d <<= 1) {
        int before = l >= d ? sums[l - d] : 0; //~ race-local
        sums[l] += before;                     //~ race-local
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sums[l];
}
