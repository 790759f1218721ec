// check: --arg in=32:index --arg digits=32 --global 32 --local 16 -cl-std=CL3.0
// The loop ends when a work-item's own number is used up.
kernel void count_digits(global const uint *in, global uint *digits)
{
    local uint longest;
    uint x = in[get_global_id(0)], n = 0;
    if (get_local_id(0) == 0)
        longest = 0;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    do {
        x /= 2;
        n++;
        atomic_max(&longest, n);
        work_group_barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    } while (x > 0);
    digits[get_global_id(0)] = n;
}
