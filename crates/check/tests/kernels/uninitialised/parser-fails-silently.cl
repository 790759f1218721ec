// check: --arg out=16 --arg text=16:index --global 16 --local 8
// The helper sets the value only if the character is a digit, and its answer is ignored.
bool parse_digit(uchar c, int *value) {
    if (c < '0' || c > '9')
        return false;
    *value = c - '0';
    return true;
}
kernel void digits(global int *out, global const uchar *text) {
    size_t i = get_global_id(0);
    int value;
    parse_digit(text[i] + '0', &value);
    out[i] = value; //~ uninitialised
}
