// check: --arg in=64:index --arg keys=16:-1 --arg values=16 --global 64 --local 8
// Groups compete for the slots of one table; only the winner of the compare-and-swap writes the value.
kernel void insert(global const int *in, volatile global int *keys, global int *values)
{
    int key = in[get_global_id(0)] % 11;
    for (int probe = 0; probe < 16; probe++) {
        uint slot = (key * 5 + probe) % 16;
        int old = atomic_cmpxchg(&keys[slot], -1, key);
        if (old == -1)
            values[slot] = (int)get_global_id(0);
        if (old == -1 || old == key)
            return;
    }
}
