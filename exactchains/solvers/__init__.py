"""Solvers: one file per method, one entry function per problem class."""
