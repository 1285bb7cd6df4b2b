"""Find, rewrite and check links of pages, style sheets and Markdown by one table of attributes."""
