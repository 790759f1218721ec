// check: --arg out=16 --arg text=160:index --global 16 --local 8
// Characters of two bytes are read from the second byte of a line on.
kernel void sum_characters(global uint *out, global const uchar *text) {
    size_t i = get_global_id(0);
    uchar line[10] __attribute__((aligned(4)));
    for (int k = 0; k < 10; k++)
        line[k] = text[10 * i + k];
    const ushort *characters = (const ushort *)(line + 1);
    uint sum = 0;
    for (int k = 0; k < 4; k++)
        sum += characters[k]; //~ misaligned
    out[i] = sum;
}
