// check: --arg total=1 --arg in=64:index --global 64 --local 16
// Values below ten have no weight, and add an undefined amount to the total.
kernel void weigh(volatile global int *total, global const int *in) {
    int v = in[get_global_id(0)];
    int weight;
    if (v >= 50)
        weight = 5;
    else if (v >= 10)
        weight = 1;
    atomic_add(total, weight); //~ uninitialised
}
