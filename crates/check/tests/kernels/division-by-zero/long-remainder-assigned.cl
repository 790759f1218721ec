// check: --arg keys=32:index --arg sizes=32:index --global 32 --local 16
// The remainder is assigned in place; the first table has a size of zero.
kernel void reduce_keys(global ulong *keys, global const ulong *sizes) {
    size_t i = get_global_id(0);
    keys[i] %= sizes[i]; //~ division-by-zero
}
