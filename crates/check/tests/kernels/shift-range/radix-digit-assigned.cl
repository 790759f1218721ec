// check: --arg keys=16:index --arg pass=16:index --global 16 --local 8 --enable shift-range
// The ninth digit of four bits does not exist in 32 bits.
kernel void digits(global uint *keys, global const uint *pass) {
    size_t i = get_global_id(0);
    uint key = keys[i];
    key >>= 4 * pass[i]; //~ shift-range
    keys[i] = key & 15u;
}
