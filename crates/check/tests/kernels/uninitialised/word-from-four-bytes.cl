// check: --arg out=16 --arg in=64:index --global 16 --local 8
// The word has no value of its own; a loop sets its bytes.
kernel void words(global uint *out, global const uchar *in) {
    size_t i = get_global_id(0);
    uint word;
    uchar *bytes = (uchar *)&word;
    for (int k = 3; k >= 0; k--)
        bytes[k] = in[4 * i + 3 - k];
    out[i] = word;
}
