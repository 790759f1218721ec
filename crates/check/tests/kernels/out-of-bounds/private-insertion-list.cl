// check: --arg out=16 --arg in=128:index --global 16 --local 8
// The insertion into the list of the four least values starts behind the list's last place.
#define LEAST 4
kernel void sum_of_least(global int *out, global const int *in) {
    int i = get_global_id(0);
    int best[LEAST] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
    for (int k = 0; k < 8; k++) {
        int v = in[8 * i + k];
        int place = LEAST;
        for (; place > 0 && best[place - 1] > v; place--)
            best[place] = best[place - 1]; //~ out-of-bounds
        best[place] = v; //~ out-of-bounds
    }
    out[i] = best[0] + best[3];
}
