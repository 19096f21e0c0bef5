"""What a principal may: grants, which are filters, and the decisions that follow.

From the ground up: ``templates`` (texts with the name of the principal) → ``roles``
(what the settings say) → ``grant`` (what one principal may) → ``decisions`` (narrowed,
covered, refused, each with a witness) → ``book`` (the grants of all), ``sight`` (what
one may see of others) → ``review`` (what is wrong with roles, and who can see
something).  Nothing here knows a connection.
"""
