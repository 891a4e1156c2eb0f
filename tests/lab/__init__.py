"""The laboratory: real md arrays on any machine, inside a User Mode Linux guest; `qemu` has another.

The guest's root is the host's, read-only under an overlay in the guest's memory: the project's checkout,
its virtual environment, mdadm and udev are all there, and nothing the guest writes reaches the host. Its
disks are sparse files in a temporary folder, gone with the guest. Needs the Debian packages
user-mode-linux, mdadm, udev and kmod.
"""
