"""certify: bounds for the whole yield curve that hold at every rank at once, whatever the labels look like.

One item is drawn from each of many small cells of the ranking, top down. For every theta of a fixed grid the
products of ``1 +- theta * size * (label - guess)`` are supermartingales once the yield is divided out, so by
Ville's inequality the yield lies between two roots at every cell end, with the confidence asked for. The planner,
which chooses the cell sizes from labels at smaller ranks, touches the cost only, never the validity.
"""
