#line 100 "generated.cl"
int a = ;
# 7 "other.cl"
int b = ;
