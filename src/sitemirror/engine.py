"""The loop and the error policy: the only module that knows all stages."""
