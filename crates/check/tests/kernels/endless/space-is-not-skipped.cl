// check: --arg text=64:index --arg words=4 --global 4 --local 4 --time-limit 1
// A space starts the next round without a step to the next character.
kernel void count_letters(global const uchar *text, global int *words)
{
    uint i = get_global_id(0) * 16, end = i + 16;
    int letters = 0;
    while (i < end) { //~ endless
        if (text[i] == ' ')
            continue;
        letters++;
        i++;
    }
    words[get_global_id(0)] = letters;
}
