"""A benchmark carried out: its worker, fio as a child, the changes to the host, and who follows it."""
