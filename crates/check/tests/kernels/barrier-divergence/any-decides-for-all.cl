// check: --arg in=32:index --arg out=32 --global 32 --local 16 -cl-std=CL3.0
// The loop goes on as long as any work-item has something to do: the result is the same for all of the group.
kernel void count_bits(global const uint *in, global uint *out)
{
    size_t g = get_global_id(0);
    uint x = in[g], odd = 0;
    while (work_group_any(x > 0)) {
        odd += work_group_reduce_add(x & 1);
        x >>= 1;
    }
    out[g] = odd;
}
