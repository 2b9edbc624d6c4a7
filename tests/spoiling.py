"""Ways to spoil a certificate, for tests that expect it to be rejected."""


def put(*path, value):
    """Return what sets the entry at ``path`` to ``value``, or to a function of what stands there."""

    def spoil(c):
        for key in path[:-1]:
            c = c[key]
        c[path[-1]] = value(c[path[-1]]) if callable(value) else value

    return spoil
