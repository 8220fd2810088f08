"""The tasks of this example, and the worker's heartbeat."""

import os
import pathlib

from celery import Celery, signals

app = Celery("tasks", broker=os.environ["CELERY_BROKER_URL"], backend=os.environ["CELERY_RESULT_BACKEND"])
app.conf.beat_schedule = {"tick": {"task": "tasks.add", "schedule": 5.0, "args": (1, 1)}}


@app.task
def add(a, b):
    return a + b


# Celery keeps no heartbeat in Redis that could be read: it broadcasts one every
# two seconds. This one is for startgate health.
@signals.heartbeat_sent.connect
def beat(**_):
    if path := os.environ.get("CELERY_HEARTBEAT_FILE"):
        pathlib.Path(path).touch()
