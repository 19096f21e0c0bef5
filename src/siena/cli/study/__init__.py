"""``siena study``: the papers' figures and claims, and studies of one's own."""
