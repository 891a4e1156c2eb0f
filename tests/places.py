"""Where the house and its fixtures are, for tests on every floor."""

from pathlib import Path

HOUSE = Path(__file__).parents[1]
FIXTURES = HOUSE / "tests" / "fixtures"
