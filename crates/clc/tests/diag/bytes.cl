/* Grüße */ int Ã¤ = 1;
	int tab = ;
// â‚¬
int c = "ÿ" +;