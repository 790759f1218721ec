// check: --arg out=32 --arg text=32:97 --global 32 --local 8
// The mark that says "not found" is an address of all ones; the kernel does not compare with it.
#define NOT_FOUND ((global const char *)~0UL)
global const char *find(global const char *text, int n, char c) {
    for (int k = 0; k < n; k++)
        if (text[k] == c)
            return text + k;
    return NOT_FOUND;
}
kernel void first_letters(global char *out, global const char *text) {
    int i = get_global_id(0);
    global const char *hit = find(text, 32, 'a' + i);
    out[i] = *hit; //~ invalid-pointer
}
