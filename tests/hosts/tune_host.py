"""A host with knobs: disks with queues, processors with governors. What is written to them is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.model.knob import ChangedValue, Subject, Tuning, Value
from raidtui.model.snapshot import Snapshot
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, raid10
from tests.hosts.trees import Tree, device_number, whole_disk

BLOCK = "/sys/class/block"
CPUS = "/sys/devices/system/cpu"
POLICIES = f"{CPUS}/cpufreq"
RULES = "/etc/udev/rules.d/60-raidtui-io.rules"
SYSCTL = "/etc/sysctl.d/90-raidtui.conf"
TMPFILES = "/etc/tmpfiles.d/raidtui.conf"
FOUR = raid10(members=("sda", "sdb", "sdc", "sdd"))
SATA = {
    "queue/scheduler": "none [mq-deadline]",
    "queue/nr_requests": "64",
    "queue/read_ahead_kb": "128",
    "queue/rq_affinity": "1",
    "queue/wbt_lat_usec": "2000",
    "queue/optimal_io_size": "0",
    "queue/discard_max_bytes": "2147450880",
    "queue/discard_max_hw_bytes": "2147450880",
    "queue/discard_granularity": "512",
    "device/queue_depth": "32",
    "device/timeout": "30",
    "mq/0/nr_tags": "32",
    "diskseq": "9",
}
NVME = {
    "queue/scheduler": "[none] mq-deadline",
    "queue/nr_requests": "1023",
    "queue/read_ahead_kb": "128",
    "queue/rq_affinity": "1",
    "mq/0/nr_tags": "1023",
    "mq/1/nr_tags": "1023",
}
INTEL = {
    "scaling_driver": "intel_pstate",
    "scaling_governor": "powersave",
    "scaling_available_governors": "performance powersave",
    "energy_performance_preference": "balance_performance",
    "energy_performance_available_preferences": "default performance balance_performance balance_power power",
    "scaling_min_freq": "800000",
    "scaling_max_freq": "4200000",
    "cpuinfo_min_freq": "800000",
    "cpuinfo_max_freq": "4200000",
    "scaling_cur_freq": "1200000",
}
AMD = {
    **INTEL,
    "scaling_driver": "amd-pstate-epp",
    "scaling_min_freq": "1100000",
}
ACPI = {
    "scaling_driver": "acpi-cpufreq",
    "scaling_governor": "schedutil",
    "scaling_available_governors": "conservative ondemand userspace powersave performance schedutil",
    "scaling_min_freq": "800000",
    "scaling_max_freq": "2600000",
    "cpuinfo_min_freq": "800000",
    "cpuinfo_max_freq": "2600000",
}


class TuneHost(Kernel):
    """A host whose knobs can be written to.

    Args:
        *arrays: what is there.
        nodes: disk -> file -> text; a disk that starts with "nvme" has an NVMe disk's files, else a SATA's.
        files: any other files.
        cpus: the files of each policy: four processors, two to a policy.
        mode: the driver's mode, with ``cpus``.
        systemd: whether systemd is PID 1.
        **more: as for ``Kernel``.
    """

    def __init__(
        self,
        *arrays: ArraySpec,
        nodes: Mapping[str, Mapping[str, str]] | None = None,
        files: Mapping[str, str] | None = None,
        cpus: Mapping[str, str] | None = None,
        mode: str = "active",
        systemd: bool = True,
        **more: Any,
    ) -> None:
        own = arrays or (FOUR,)
        names = {whole_disk(device) for array in own for device in array.devices} | set(nodes or {})
        self.extra: dict[str, str] = {"/proc/1/comm": "systemd" if systemd else "sh"}
        for name in sorted(names):
            known = NVME if name.startswith("nvme") else SATA
            for file, text in {**known, **(nodes or {}).get(name, {})}.items():
                self.extra[f"{BLOCK}/{name}/{file}"] = text
        for number in (0, 1) if cpus else ():
            folder = f"{POLICIES}/policy{number * 2}"
            self.extra[f"{folder}/affected_cpus"] = f"{number * 2} {number * 2 + 1}"
            self.extra |= {f"{folder}/{file}": text for file, text in (cpus or {}).items()}
        if cpus and cpus["scaling_driver"] != "acpi-cpufreq":
            vendor = "intel_pstate" if cpus["scaling_driver"].startswith("intel") else "amd_pstate"
            self.extra[f"{CPUS}/{vendor}/status"] = mode
        self.extra |= dict(files or {})
        self.links_too: dict[str, str] = {}
        self.extra = {path: f"{text}\n" for path, text in self.extra.items() if text != "-"}
        disks = dict(more.pop("disks", {}))
        super().__init__(*own, disks={name: disks.get(name, {}) for name in names} | disks, **more)

    def _tree(self) -> Any:
        tree = super()._tree()
        return Tree(files=tree.files | self.extra, links=tree.links | self.links_too)

    def _take(self, path: str, text: str) -> None:
        if path not in self.extra:
            super()._take(path, text)
            return
        if path.endswith("/scheduler"):
            words = self.extra[path].replace("[", "").replace("]", "").split()
            text = " ".join(f"[{word}]" if word == text else word for word in dict.fromkeys([*words, text]))
        self.extra[path] = f"{text}\n"

    def by_hand(self, path: str, text: str) -> None:
        """Let somebody else write a file."""
        self.extra[path] = f"{text}\n"
        self.show(self._tree(), after_s=0)

    def snapshot(self) -> Snapshot:
        """One sample."""
        return self.sampler().sample()

    def tuning(self, changed: Mapping[str, ChangedValue] | None = None, **more: Any) -> Tuning:
        """All knobs."""
        return KnobReader(self).read(self.snapshot(), changed, **more)

    def subject(self, name: str) -> Subject:
        """One subject."""
        found = self.tuning().subject(name)
        assert found is not None, name
        return found

    def knob(self, name: str, knob: str) -> Value:
        """One knob of one subject."""
        return self.subject(name).values[knob]


def parity(**attributes: str) -> dict[str, str | None]:
    """The attributes of RAID 4, 5 and 6 beyond those of others."""
    known = {"stripe_cache_size": "256", "group_thread_cnt": "0", "preread_bypass_threshold": "1"}
    return {**known, **attributes}


def udev(name: str) -> str:
    """Where udev's database of a device is."""
    return f"/run/udev/data/b{device_number(name)}"
