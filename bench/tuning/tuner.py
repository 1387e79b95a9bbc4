"""Runs of the tuner into fresh databases."""
import contextlib
import os
import subprocess

THREADS = 2


def tune(model, database, trials, seed, *options):
    """Tunes a model into a database. Returns the output of the program $TUNEC. Raises RuntimeError if
    the program fails."""
    run = subprocess.run([os.environ["TUNEC"], model, "--db", database, "--trials", str(trials),
                          "--seed", str(seed), "--threads", str(THREADS), *options],
                         capture_output=True, text=True)
    text = run.stdout + run.stderr
    if run.returncode:
        raise RuntimeError(f"{model}: {text}")
    return text


@contextlib.contextmanager
def unfinished(database):
    """Returns a context with the name of a new file. The file gets the name `database` at the end,
    unless there is an exception."""
    part = database + ".part"
    if os.path.exists(part):
        os.remove(part)
    yield part
    os.rename(part, database)
