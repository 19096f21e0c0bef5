"""A picture of a world: ``placing`` says where, ``drawing`` what is shown."""
