"""A new array: the request, the devices, the plan that creates it. Pure."""
