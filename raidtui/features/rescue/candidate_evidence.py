"""What speaks for a candidate of a rescue, and against it: made once, and passed on to the plan. Pure."""

from __future__ import annotations

from msgspec import Struct

from raidtui.view.units import joined


class LeftOut(Struct, frozen=True, kw_only=True):
    """What is read where one member is left out, and rebuilt from the others or read from its copies.

    Args:
        device: the member.
        against: rows, or blocks with copies, that P and Q or most copies say it is wrong in.
        good: blocks that are right without it.
        bad: blocks that are wrong without it.
        unmatched: rows or copies that disagree without it; None where nothing is left to compare.
    """

    device: str
    against: int = 0
    good: int = 0
    bad: int = 0
    unmatched: int | None = None

    @property
    def words(self) -> str:
        """What it shows, a clause."""
        said = f"without {self.device} {self.bad} of {self.good + self.bad} blocks are wrong"
        if self.unmatched is not None:
            said += f", and {self.unmatched or 'no'} sampled rows disagree"
        return said


class CandidateEvidence(Struct, frozen=True, kw_only=True):
    """What was seen of a candidate. It goes with it through trial, proof and plan.

    Args:
        good: blocks of what stands on it that are right; 0 where none were read.
        bad: blocks that are not.
        compared: rows with parity, or blocks with copies, that were compared; 0: nothing could be.
        unmatched: how many of them disagree.
        mirrored: whether it is copies that were compared, not parity.
        left_out: what is read without each member, where members disagree.
        spared: the member that it leaves out for that, where nothing shows that this one is outdated.
        tie: what no trial decides between it and others, a sentence; "" for nothing.
        behind: how old the superblocks of members are that are not the newest, clauses.
    """

    good: int = 0
    bad: int = 0
    compared: int = 0
    unmatched: int = 0
    mirrored: bool = False
    left_out: tuple[LeftOut, ...] = ()
    spared: str = ""
    tie: str = ""
    behind: tuple[str, ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """What remains in doubt whatever a check of the file system says, sentences."""
        found = [self.tie] if self.tie else []
        without = f": {'; '.join(each.words for each in self.left_out)}" if self.left_out else ""
        if self.spared:
            found.append(
                f"A clean check is not enough here: members disagree, and nothing shows that {self.spared},"
                f" which is left out, is the outdated one{without}. Compare the contents of files, with each"
                " member left out in turn."
            )
        elif self.unmatched:
            what = "copies" if self.mirrored else "parity"
            found.append(
                f"A clean check is not enough here: {what} did not match in {self.unmatched} of"
                f" {self.compared} sampled places, so a member may be outdated, and files with it{without}."
                " Compare the contents of files, with each member left out in turn."
            )
        if self.behind:
            found.append(
                f"By the superblocks, {joined(list(self.behind))}: what was written since is not there."
            )
        return tuple(found)
