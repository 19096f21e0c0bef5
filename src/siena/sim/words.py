"""Two hundred common words of news, the most common first.

The authors took theirs from the RCV1 news corpus, which cannot be shipped; this
list is ours.  The order is the rank, and the ranks decide every workload: change
a word, and no number measured before compares with one measured after.

None is a word of the filter language, so that a filter made of them prints without
quotes; many begin, end or contain one another, as words of a language do.
"""

_BY_RANK = """
year market government company new percent state people week bank
price million trade world country report group stock share day
national business work president minister party police city rate month
high water school public north south east west court plan
house oil sales growth economic economy industry election leader war
member policy interest law news service power home dollar union
trial agreement talks peace system research study health hospital doctor
family children woman man student teacher university team game season
player club match cup race win victory record history art
film music book paper press television radio street road car
train airport airline flight ship port border island sea river
land farm farmer food wheat corn cotton coffee gold silver
steel coal gas energy nuclear plant factory machine computer software
network internet telephone satellite space science engine motor chip data
money cash credit loan debt bond fund tax budget deficit
profit loss income dividend merger deal contract supply demand export
import tariff quota customs currency exchange future option index analyst
bankrupt banker banking reserve inflation recession reform protest strike vote
parliament senate congress council mayor governor judge lawyer crime prison
weather storm rain snow flood fire earthquake accident rescue tourist
"""

WORDS = tuple(_BY_RANK.split())
