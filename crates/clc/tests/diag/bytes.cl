/* Grüße */ int Â¤ = 1;
	int tab = ;
// â‚¬
int c = "ÿ" +;