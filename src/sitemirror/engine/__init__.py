"""The loop and the error policy: the only package that knows all stages."""
