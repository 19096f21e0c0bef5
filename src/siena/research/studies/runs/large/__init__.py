"""Networks of up to a million sites, as arrays, and the rows computed there."""
