"""A new array: what is asked, what it is made of, the plan that makes it. Pure."""
