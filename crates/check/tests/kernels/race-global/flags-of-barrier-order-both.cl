// check: --arg a=64:index --arg out=64 --arg flags=3 --global 64 --local 16
// The flags are known when the kernel runs: they order all memory.
kernel void pairs(global int *a, global int *out, uint flags)
{
    size_t i = get_global_id(0);
    a[i] += 1;
    barrier(flags);
    out[i] = a[i ^ 1];
}
