"""Writers of a SQLite database take turns: nobody starves, nobody is told that the database is locked."""

from __future__ import annotations

import threading
import time

import pytest

from karat.store.database import Database
from karat.store.queue import Queue
from karat.store.upgrade import upgrade

N_THREADS, N_TURNS = 8, 60


def test_first_come_first_served():
    queue, served, threads = Queue(), [], []

    def wait(number):
        with queue:
            served.append(number)

    with queue:
        for number in range(20):
            threads.append(threading.Thread(target=wait, args=(number,)))
            threads[-1].start()
            while len(queue) < number + 2:
                time.sleep(0.001)
        assert served == []
    for thread in threads:
        thread.join()
    assert served == list(range(20))
    assert len(queue) == 0


def test_an_error_lets_the_next_one_in():
    queue = Queue()
    with pytest.raises(ZeroDivisionError), queue:
        1 / 0  # noqa: B018
    assert len(queue) == 0


def most_turns_waited(database, write):
    """Let threads write as fast as they can; return how many writes of others one of them had to wait for."""
    order, asked, lock = [], [], threading.Lock()
    upgrade(database)

    def work(number):
        for _ in range(N_TURNS):
            begun = len(order)
            with write() as connection:
                connection.exec_driver_sql("UPDATE users SET name = name")
                with lock:
                    asked.append(len(order) - begun)
                    order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    database.close()
    assert len(order) == N_THREADS * N_TURNS
    return max(asked)


@pytest.mark.long
def test_nobody_waits_for_more_than_one_round(tmp_path):
    """A thread may be put to sleep between counting and queueing, hence twice the others. SQLite's own lock, where who
    waits looks again now and then, makes somebody wait far longer. Who runs when is the system's to say."""
    queued = Database(tmp_path / "queued.db")
    assert most_turns_waited(queued, queued.write) <= 2 * N_THREADS
    bare = Database(tmp_path / "bare.db")
    assert most_turns_waited(bare, bare.engine.begin) > 4 * N_THREADS
