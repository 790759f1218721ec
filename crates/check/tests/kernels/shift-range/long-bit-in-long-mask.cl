// check: --arg out=40 --global 40 --local 8 --enable shift-range
// The 1 that is shifted is a ulong of 64 bits.
kernel void bits(global ulong *out) {
    int i = get_global_id(0);
    ulong mask = 0;
    mask |= 1UL << i;
    out[i] = mask;
}
