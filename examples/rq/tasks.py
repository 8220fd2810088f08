"""The jobs of this example."""


def add(a, b):
    return a + b
