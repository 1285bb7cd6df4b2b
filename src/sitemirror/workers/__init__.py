"""Reads pages: in this process while that is enough, in processes of its own when it is not."""
