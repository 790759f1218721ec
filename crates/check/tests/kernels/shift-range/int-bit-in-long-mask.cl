// check: --arg out=40 --global 40 --local 8 --enable shift-range
// The mask is a ulong, but the 1 that is shifted is an int.
kernel void bits(global ulong *out) {
    int i = get_global_id(0);
    ulong mask = 0;
    mask |= 1 << i; //~ shift-range
    out[i] = mask;
}
