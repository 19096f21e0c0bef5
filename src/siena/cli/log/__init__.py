"""``siena log``: what a broker keeps on its disk, for people."""
