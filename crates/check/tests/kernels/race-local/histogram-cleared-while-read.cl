// check: --arg planes=48:index --arg bins=48 --global 16 --local 16
// For the next plane the bins are cleared while other work-items still read them.
kernel void histograms(global const uint *planes, global uint *bins)
{
    local uint count[16];
    uint l = get_local_id(0);
    for (uint plane = 0; plane < 3; plane++) {
        count[l] = 0; //~ race-local
        barrier(CLK_LOCAL_MEM_FENCE);
        atomic_inc(&count[planes[plane * 16 + l] * 7 % 16]);
        barrier(CLK_LOCAL_MEM_FENCE);
        bins[plane * 16 + l] = count[15 - l]; //~ race-local
    }
}
