// check: --arg out=16 --arg in=64:index --global 16 --local 4
// The scratch array ends with the function that should supply it.
int *scratch(void) {
    int buffer[4];
    int *first = buffer;
    return first;
}
kernel void reversed(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int *s = scratch();
    for (int k = 0; k < 4; k++)
        s[k] = in[4 * i + 3 - k]; //~ dangling-pointer
    out[i] = 1000 * s[0] + s[3]; //~ dangling-pointer
}
