// check: --arg out=6 --global 6 --local 6
// A string literal is in constant memory; the helper writes to it.
void capitalise(global char *c) {
    *c = 'A'; //~ write-to-constant
}
kernel void title(global char *out) {
    size_t i = get_global_id(0);
    constant char *text = "kernel";
    out[i] = text[i];
    if (i == 0)
        capitalise((global char *)(uintptr_t)text);
}
