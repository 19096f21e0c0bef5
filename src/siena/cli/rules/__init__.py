"""``siena rules``: sets of rules, reviewed, compared, tried, and put on Spark."""
