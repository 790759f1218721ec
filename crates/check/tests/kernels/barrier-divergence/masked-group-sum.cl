// check: --arg in=32:index --arg out=32 --global 32 --local 8 -cl-std=CL3.0
// All work-items call the sum; those with an odd value contribute nothing.
kernel void share(global const int *in, global int *out)
{
    size_t g = get_global_id(0);
    int v = in[g], even = v % 2 == 0;
    int before = work_group_scan_exclusive_add(even ? 1 : 0);
    int count = work_group_reduce_add(even);
    if (even)
        out[g] = count - before;
}
