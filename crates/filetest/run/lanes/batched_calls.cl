// Vector variants of library functions in a loop that runs for a batch of groups: the attempt at a batch and the one
// without use the same variants.
// run: global=512 local=64
// arg: buffer float 4096 = random 3
// arg: buffer float 512 = zero
// arg: value uint 4096
kernel void sums_of_remainders(global const float *in, global float *out, uint n)
{
    local float sums[64];
    size_t l = get_local_id(0);
    float sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += fmod(in[i] * 1e9f, 0.7f);
    sums[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = sums[l ^ 1];
}
