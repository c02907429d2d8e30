"""certify: bounds for the whole yield curve that hold at every rank at once, whatever the labels look like.

One item is drawn from each of many small cells of the ranking, top down. For every theta of a fixed grid the
products of ``1 +- theta * size * (label - guess)`` are supermartingales once the yield is divided out, so by
Ville's inequality the yield lies between two roots at every cell end, with the confidence asked for. The planner,
which chooses the cell sizes from labels at smaller ranks, touches the cost only, never the validity.

``settings`` what is asked for | ``bets`` thetas and level | ``cells`` cells and their law | ``martingale`` gains and
roots | ``band`` evaluation | ``bounds`` consistency | ``noise`` wrong labels | ``variance``, ``pilot``, ``planner``
planning | ``layout`` cutting and drawing | ``course``, ``steps``, ``look``, ``walk`` a pass | ``judge`` the verdict |
``simulate``, ``forecast`` passes over known or assumed labels | ``stream`` random numbers by counter.
"""
