"""A process that records answers as fast as it can, and says so on stdout once each is acknowledged.

Arguments: URL, project, user, first request number, "honest" or "hasty". The hasty one acknowledges before it commits:
the control that must lose answers. It takes its time in between, so that the kill does not miss the gap.
"""

import sys
import time

from karat.service.assignment import Answer
from karat.service.installation import Installation


def main() -> None:
    url, slug, user_id, first, manner = sys.argv[1:]
    house = Installation(url)
    project = house.project(slug)
    campaign = house.campaign(project)
    number = int(first)
    items = [task.item_id for task in house.assignment.next_tasks(project, campaign, user_id=int(user_id), n=20).tasks]
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
        if manner == "honest":
            sys.stdout.write(f"r{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
