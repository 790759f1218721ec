// check: --arg image=128:index --arg best=4 --arg done=1 --arg out=1 --global 16x8 --local 8x4 -cl-std=CL3.0
// The counter releases the partial results, but the last group does not acquire them.
kernel void brightest(global const uchar *image, global uint *best, global atomic_uint *done, global uint *out)
{
    size_t x = get_global_id(0), y = get_global_id(1);
    uint m = work_group_reduce_max((uint)image[y * 16 + x]);
    if (get_local_id(0) == 0 && get_local_id(1) == 0) {
        best[get_group_id(1) * 2 + get_group_id(0)] = m; //~ race-groups
        if (atomic_fetch_add_explicit(done, 1u, memory_order_release, memory_scope_device) == 3) {
            uint all = 0;
            for (int i = 0; i < 4; i++)
                all = max(all, best[i]); //~ race-groups
            out[0] = all;
        }
    }
}
