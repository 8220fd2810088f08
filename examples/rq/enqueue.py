"""Puts one job into the queue, waits for its result and prints it."""

import os
import sys
import time

from redis import Redis
from rq import Queue

queue = Queue(sys.argv[1], connection=Redis.from_url(os.environ["RQ_REDIS_URL"]))
job = queue.enqueue("tasks.add", 2, 3)
for _ in range(600):
    if job.is_finished or job.is_failed:
        break
    time.sleep(0.1)
print("finished" if job.is_finished else "not finished", job.return_value())
