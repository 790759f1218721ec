// check: --arg out=24 --global 24 --local 8 --enable signed-overflow
// The factorial of 21 is above the greatest long.
kernel void factorials(global long *out) {
    int n = get_global_id(0);
    long product = 1;
    for (int k = 2; k <= n && k <= 21; k++)
        product *= k; //~ signed-overflow
    out[n] = product;
}
