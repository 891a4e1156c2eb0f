"""Many hosts: which ones, what each says of its arrays, how raidtui comes to one. All by OpenSSH."""
