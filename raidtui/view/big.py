"""Letters three lines high, for what is read from across a room: the serial number of a disk."""

from __future__ import annotations

_FONT = {
    "0": "### #.# #.# #.# ###", "1": ".#. ##. .#. .#. ###", "2": "##. ..# .#. #.. ###",
    "3": "##. ..# .#. ..# ##.", "4": "#.# #.# ### ..# ..#", "5": "### #.. ##. ..# ##.",
    "6": ".## #.. ### #.# ###", "7": "### ..# .#. .#. .#.", "8": "### #.# ### #.# ###",
    "9": "### #.# ### ..# ##.", "A": ".#. #.# ### #.# #.#", "B": "##. #.# ##. #.# ##.",
    "C": ".## #.. #.. #.. .##", "D": "##. #.# #.# #.# ##.", "E": "### #.. ##. #.. ###",
    "F": "### #.. ##. #.. #..", "G": ".## #.. #.# #.# .##", "H": "#.# #.# ### #.# #.#",
    "I": "### .#. .#. .#. ###", "J": "..# ..# ..# #.# .#.", "K": "#.# #.# ##. #.# #.#",
    "L": "#.. #.. #.. #.. ###", "M": "#...# ##.## #.#.# #...# #...#", "N": "#..# ##.# #.## #..# #..#",
    "O": ".#. #.# #.# #.# .#.", "P": "##. #.# ##. #.. #..", "Q": ".#.. #.#. #.#. #.#. .#.#",
    "R": "##. #.# ##. #.# #.#", "S": ".## #.. .#. ..# ##.", "T": "### .#. .#. .#. .#.",
    "U": "#.# #.# #.# #.# ###", "V": "#.# #.# #.# #.# .#.", "W": "#...# #...# #.#.# ##.## #...#",
    "X": "#.# #.# .#. #.# #.#", "Y": "#.# #.# .#. .#. .#.", "Z": "### ..# .#. #.. ###",
    "-": "... ... ### ... ...", "_": "... ... ... ... ###", ".": "... ... ... ... .#.",
    ":": "... .#. ... .#. ...", " ": ".. .. .. .. ..",
}  # fmt: skip
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def big_rows(text: str, width: int) -> tuple[str, ...]:
    """Return a text in letters of three lines; in one line, spaced, where it does not fit or has other signs.

    Args:
        text: letters are drawn as capitals.
        width: the cells of a line.
    """
    glyphs = [_FONT.get(char, "").split() for char in text.upper()]
    if all(glyphs) and sum(len(rows[0]) + 1 for rows in glyphs) <= width:
        grid = [" ".join(rows[row] for rows in glyphs).replace(" ", ".") for row in range(5)]
        grid.append("." * len(grid[0]))
        return tuple(
            "".join(
                _HALVES[upper == "#", lower == "#"]
                for upper, lower in zip(grid[row], grid[row + 1], strict=True)
            ).rstrip()
            for row in (0, 2, 4)
        )
    spaced = " ".join(text)
    return (spaced if len(spaced) <= width else text,)
