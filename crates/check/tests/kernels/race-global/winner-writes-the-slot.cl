// check: --arg in=32:index --arg owner=16:-1 --arg value=16 --global 32 --local 16
// Work-items compete for the slots of their group; only the winner of the compare-and-swap writes the value.
kernel void insert(global const int *in, volatile global int *owner, global int *value)
{
    size_t g = get_global_id(0);
    uint slot = get_group_id(0) * 8 + in[g] * 3 % 8;
    if (atomic_cmpxchg(&owner[slot], -1, (int)g) == -1)
        value[slot] = in[g];
}
