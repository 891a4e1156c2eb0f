"""What a boot needs, read without changing anything: loaders on disks and ESPs, initramfs, tables."""
