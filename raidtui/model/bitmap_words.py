"""What a bitmap says of a re-add, in words: how much is copied at most, or why that is not known."""

from __future__ import annotations

from raidtui.model.array import Array, Bitmap
from raidtui.view.units import KIB, binary_size, short_binary


def bitmap_words(array: Array) -> str:
    """Return its pages and chunks and, where a member is missing, what a re-add would copy; "" without one.

    /proc/mdstat has only the pages in use: ``mdadm --examine-bitmap`` counts the chunks, for a plan.
    """
    bitmap = array.bitmap
    if bitmap is None or not bitmap.pages or bitmap.chunk_bytes is None:
        return ""
    chunks = f"{short_binary(bitmap.chunk_bytes)} chunks"
    words = f"bitmap: {bitmap.used_pages} of {bitmap.pages} pages in use, {chunks}"
    if not array.missing_slots or not array.redundant or (array.sync and array.sync.action == "recover"):
        return words
    return f"{words}; {_re_add(array, bitmap)}"


def _re_add(array: Array, bitmap: Bitmap) -> str:
    """Return how much is copied to a member that comes back now."""
    whole, most = (array.component_kib or 0) * KIB, bitmap.marked_at_most_bytes
    if most is None:
        return "how much a re-add copies is not known: all pages are in use. Its plan asks mdadm"
    if not whole or most < whole:
        return f"a re-add copies at most {binary_size(most)}" + f" of {binary_size(whole)}" * bool(whole)
    return f"a re-add copies at most all {binary_size(whole)}: its plan asks mdadm how much"
