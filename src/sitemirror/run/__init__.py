"""One run over one site. The only package that knows every stage."""
