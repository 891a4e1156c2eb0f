"""The guide for arrays that do not start: what happened, the ways back, trial, proof, plan."""
