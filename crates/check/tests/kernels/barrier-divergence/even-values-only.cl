// check: --arg in=32:index --arg rank=32 --global 32 --local 16
// The condition of the branch with the barrier is a value that each work-item loads for itself.
kernel void rank_even(global const int *in, global int *rank)
{
    local int count;
    size_t g = get_global_id(0);
    if (get_local_id(0) == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in[g] % 2 == 0) {
        int mine = atomic_inc(&count);
        barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
        rank[g] = atomic_or(&count, 0) - mine;
    }
}
