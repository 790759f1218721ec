// check: --arg in=64:index --arg total=1 --global 64 --local 16 -cl-std=CL3.0
// One work-item a group adds the group's sum to the total, without an atomic.
kernel void sum(global const int *in, global int *total)
{
    int s = work_group_reduce_add(in[get_global_id(0)]);
    if (get_local_id(0) == 0)
        total[0] += s; //~ race-groups
}
