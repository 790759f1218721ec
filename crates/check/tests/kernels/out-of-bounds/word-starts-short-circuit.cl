// check: --arg starts=60 --arg text=60:97 --arg n=60 --global 64 --local 16
// text[i - 1] of the first work-item and text[i] of the last four are behind tests that end the evaluation.
kernel void word_starts(global int *starts, global const uchar *text, int n) {
    int i = get_global_id(0);
    bool start = i < n && text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    if (i < n)
        starts[i] = start;
}
