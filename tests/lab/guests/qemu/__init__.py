"""The laboratory's second guest: QEMU, with SATA that queues, NVMe, SMART, governors, and disks that leave.

A whole machine in software (TCG; no /dev/kvm is used), about ten times slower than this one. Its kernel is
Debian's; its root is this machine's, read-only under an overlay in the guest's memory, as in User Mode Linux.
Needs the Debian packages qemu-system-x86, smartmontools, mdadm, udev and kmod, and a stock kernel, of which
the files are enough: `make kernel` unpacks them into the virtual environment.
"""
