"""Links of pages, style sheets and Markdown: finding, rewriting and checking read one table of URL attributes."""
