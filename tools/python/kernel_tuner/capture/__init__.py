"""Takes what a script gives to tune_kernel and writes it as a T1 file. No part of Kernel Tuner's interface."""


class NotTaken(Exception):
    """Something that a T1 file, or a condition in it, cannot say. The text says what and why."""
