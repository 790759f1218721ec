// check: --arg out=16 --arg in=96:index --global 16 --local 16
// Six values are pushed on a stack of four; the last two overwrite the marks.
struct walk {
    int top;
    int stack[4];
    int marks[8];
};
kernel void walks(global int *out, global const int *in) {
    int i = get_global_id(0);
    struct walk w;
    w.top = 0;
    for (int k = 0; k < 8; k++)
        w.marks[k] = 0;
    for (int k = 0; k < 6; k++)
        w.stack[w.top++] = in[6 * i + k]; //~ array-index
    int marked = 0;
    for (int k = 0; k < 8; k++)
        marked += w.marks[k] != 0;
    out[i] = marked + w.stack[0];
}
