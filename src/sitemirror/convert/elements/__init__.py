"""Convert HTML elements into ones that the Markdown renderer writes well, one module a family."""
