// check: --arg in=64:index --arg limit=10 --arg bitmap=1 --global 64 --local 8 -cl-std=CL3.0
// Each group sets a bit of its own, but all bits are in one word, which is read and written back.
kernel void mark_groups(global const int *in, int limit, global uint *bitmap)
{
    size_t group = get_group_id(0);
    int above = work_group_any(in[get_global_id(0)] > limit);
    if (get_local_id(0) == 0 && above)
        bitmap[group / 32] |= 1u << (group % 32); //~ race-groups
}
