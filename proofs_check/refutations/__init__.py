"""Of refuted claims: the smallest counterexample in a stated order, and a certified map of where the claim fails."""
