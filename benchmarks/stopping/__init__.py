"""When does a run stop that proves its regret bound, and when one that samples it: measured."""
