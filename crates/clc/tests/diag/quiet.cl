// options: -w
#define A 1
#define A 2
#pragma nonsense
int a = '\q';
