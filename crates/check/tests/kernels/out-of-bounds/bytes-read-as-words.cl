// check: --arg out=64 --arg bytes=64:index --global 64 --local 32
// The buffer has 64 bytes, which are 16 words; every work-item reads a word.
kernel void popcounts(global uint *out, global const uchar *bytes) {
    global const uint *words = (global const uint *)bytes;
    size_t i = get_global_id(0);
    out[i] = popcount(words[i]); //~ out-of-bounds
}
