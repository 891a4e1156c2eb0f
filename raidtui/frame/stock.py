"""The one switch between this program's own use of Textual and Textual as it is.

``RAIDTUI_STOCK=1`` switches off what depends on Textual's private parts, or replaces one of its own: drawing
at once what changes together, the order of keys, the terminal driver, the first theme without a restyling,
the palette that is imported when it is opened, fewer widgets on a screen. The console is slower then and
works alike, so that an upgrade of Textual that breaks one of them strands nobody, and shows whose defect it
is.
"""

from __future__ import annotations

import os

STOCK = os.environ.get("RAIDTUI_STOCK") == "1"
