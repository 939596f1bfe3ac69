"""Speed and memory, against peers and goals: ``make bench``, or ``python -m bench <part> …``.

Everything is a ratio within one run, or the median of interleaved repeats, so that a machine with other work
on it slows both sides alike. Nothing here is imported by the package.
"""
