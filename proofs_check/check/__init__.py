"""The independent checker of certificates.  Trusted; standard library only; shares no code with the finders.

``python -m proofs_check.check FILE ...`` checks certificate files.  One file a kind of certificate, each with one
function ``check(problem, conclusion, proof)`` that returns None or raises :class:`Rejected`.
"""
