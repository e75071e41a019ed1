"""Kernels as functions: none is run."""


class PythonKernel:
    def __init__(self, kernel_name, kernel_string, problem_size, arguments, params=None, inputs=None, outputs=None, *_, **__):
        self.arguments, self.outputs = arguments, outputs

    def __call__(self, *arguments):
        found = [value for value, out in zip(arguments, self.outputs or [True] * len(arguments)) if out]
        return found[0] if len(found) == 1 else found
