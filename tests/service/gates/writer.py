"""A process that records answers as fast as it can, and says so on stdout once each is acknowledged.

Arguments: URL, project, user, first request number, and a manner. "honest" acknowledges what is committed. The others
are controls that must be found out: "hasty" acknowledges before it commits, and takes its time so that a kill
does not miss the gap; "lazy" does not wait for the disk.
"""

import sys
import time

from sqlalchemy import event

from karat.service.assignment import Answer
from karat.service.installation import Installation


def main() -> None:
    url, slug, user_id, first, manner = sys.argv[1:]
    house = Installation(url)
    if manner == "lazy":
        event.listen(
            house.database.engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = OFF")
        )
        house.database.close()
    project = house.project(slug)
    campaign = house.campaign(project)
    number = int(first)
    hand = house.assignment.next_tasks(project, campaign, user_id=int(user_id), n=20)
    before = house.assignment.history(project, user_id=int(user_id), most=20)  # once all are answered, answers change
    items = [task.item_id for task in hand.tasks] or [entry["item_id"] for entry in before]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        number += 1
        answer = Answer(items[number % len(items)], "yes" if number % 2 else "no", request=f"r{number}")
        if manner == "hasty":
            sys.stdout.write(f"r{number}\n")
            sys.stdout.flush()
            time.sleep(0.02)
        house.assignment.answer(project, campaign, answer, user_id=int(user_id))
        if manner != "hasty":
            sys.stdout.write(f"r{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
