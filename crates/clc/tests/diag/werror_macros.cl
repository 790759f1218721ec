// options: -Werror -D LIMIT=4 -D "TEXT=1 +" -cl-fast-math
#define LIMIT 5
int a = LIMIT;
int b = TEXT;
