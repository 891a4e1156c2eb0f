"""The simulated host's processors: four, with governors of acpi-cpufreq.

Sources: Documentation/admin-guide/pm/cpufreq.rst, and the store functions of drivers/cpufreq/cpufreq.c.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from raidtui.demo.kernel import SimKernel
from raidtui.demo.rates import noise, running

CPU = "/sys/devices/system/cpu"
_FOLDER = f"{CPU}/cpufreq"
_POLICIES = tuple(f"policy{number}" for number in range(4))
_GOVERNORS = ("conservative", "ondemand", "powersave", "performance", "schedutil")
_STEPS_KHZ = (1_400_000, 1_700_000, 2_100_000)
_LOW_KHZ, _HIGH_KHZ = _STEPS_KHZ[0], _STEPS_KHZ[-1]
_FIRST = {
    "scaling_governor": "schedutil",
    "scaling_min_freq": str(_LOW_KHZ),
    "scaling_max_freq": str(_HIGH_KHZ),
}
CPUINFO = "".join(
    f"processor\t: {number}\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7251 8-Core Processor\n\n"
    for number in range(4)
)


def _value(kernel: SimKernel, policy: str, file: str) -> str:
    return kernel.knobs.get(f"{policy}/{file}", _FIRST[file])


def cpufreq_files(kernel: SimKernel) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the policies' files that change with writes."""
    for number, policy in enumerate(_POLICIES):
        low, high = (int(_value(kernel, policy, f"scaling_{end}_freq")) for end in ("min", "max"))
        words = {
            "scaling_driver": "acpi-cpufreq",
            "scaling_governor": _value(kernel, policy, "scaling_governor"),
            "scaling_available_governors": " ".join(_GOVERNORS),
            "scaling_available_frequencies": " ".join(map(str, reversed(_STEPS_KHZ))),
            "scaling_min_freq": str(min(low, high)),
            "scaling_max_freq": str(high),
            "cpuinfo_min_freq": str(_LOW_KHZ),
            "cpuinfo_max_freq": str(_HIGH_KHZ),
            "affected_cpus": str(number),
            "related_cpus": str(number),
        }
        for file, text in words.items():
            yield f"{_FOLDER}/{policy}/{file}", f"{text}\n"


def frequency_files(kernel: SimKernel) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the present frequencies: what the governors choose for the load."""
    syncs = len(running(kernel.arrays))
    for policy in _POLICIES:
        low, high = (int(_value(kernel, policy, f"scaling_{end}_freq")) for end in ("min", "max"))
        governor = _value(kernel, policy, "scaling_governor")
        load = min(1.0, 0.25 + 0.3 * syncs + 0.2 * noise(3, policy, int(kernel.now_s)))
        share = {"performance": 1.0, "powersave": 0.0}.get(governor, load)
        khz = low + (high - low) * max(0.0, share)
        yield f"{_FOLDER}/{policy}/scaling_cur_freq", f"{int(khz) // 1000 * 1000}\n"


def write_cpufreq(kernel: SimKernel, path: str, word: str) -> None:
    """Write to a file of a policy.

    Raises:
        OSError: EINVAL for what is not a governor or number; EACCES for a file that is only read.
    """
    policy, _, file = path.removeprefix(f"{_FOLDER}/").partition("/")
    if file not in _FIRST:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    if file == "scaling_governor":
        if word not in _GOVERNORS:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    elif not (word.isascii() and word.isdigit()):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    else:
        word = str(max(_LOW_KHZ, min(_HIGH_KHZ, int(word))))
    kernel.knobs[f"{policy}/{file}"] = word
