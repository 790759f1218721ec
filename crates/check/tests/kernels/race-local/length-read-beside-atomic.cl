// check: --arg in=32:index --arg list=32 --arg length=32 --global 32 --local 16
// The length of the list is read plainly while others may still append to it.
kernel void select(global const int *in, global int *list, global int *length)
{
    local int next;
    size_t g = get_global_id(0);
    if (get_local_id(0) == 0)
        next = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in[g] % 3 == 0)
        list[get_group_id(0) * 16 + atomic_inc(&next)] = in[g]; //~ race-local
    length[g] = next; //~ race-local
}
