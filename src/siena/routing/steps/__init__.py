"""Long work in steps, so that a broker is never silent for long.

``backlog``, what is still to be done; ``gathering``, what came in one tick and is
handled together; ``unfolding``, which enters what clients want once there is a
neighbour; ``leaving``, which forgets what a neighbour wanted.
"""
