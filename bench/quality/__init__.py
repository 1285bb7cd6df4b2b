"""Measures of what the Markdown keeps of a page, on pages and by yardsticks that stand outside the converter."""
