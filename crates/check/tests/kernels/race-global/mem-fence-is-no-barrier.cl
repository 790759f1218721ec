// check: --arg in=32:index --arg tmp=32 --arg out=32 --global 32 --local 16
// A fence orders the accesses of one work-item; it does not wait for the others.
kernel void reverse(global const float *in, volatile global float *tmp, global float *out)
{
    size_t l = get_local_id(0), base = get_group_id(0) * 16;
    tmp[base + l] = sqrt(in[base + l]); //~ race-global
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    out[base + l] = tmp[base + 15 - l]; //~ race-global
}
