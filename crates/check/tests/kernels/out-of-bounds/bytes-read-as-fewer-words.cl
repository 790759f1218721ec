// check: --arg out=16 --arg bytes=64:index --global 64 --local 32
// Every fourth work-item reads a word of the buffer of bytes; the last word ends with the buffer.
kernel void popcounts(global uint *out, global const uchar *bytes) {
    global const uint *words = (global const uint *)bytes;
    size_t i = get_global_id(0);
    if (i % 4 == 0)
        out[i / 4] = popcount(words[i / 4]);
}
