"""Work that goes on in a thread while a test does something else."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event


@contextmanager
def meanwhile(work: Callable[[Event], object]) -> Iterator[None]:
    """Run `work` during the block. It gets an event that is set at the end. Raises its errors."""
    ended = Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(work, ended)
        try:
            yield
        finally:
            ended.set()
            running.result()
