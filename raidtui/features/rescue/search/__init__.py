"""The search for an array's geometry without its superblocks: pure, from bytes of its members to candidates.

What is read comes in through ``SearchedMember`` (``members``); ``session_search`` opens them. From the top:

``find_geometry``     one search, from its members to its result
``samples``           what is read: rows at random places, and what they say of the level
``anchors``           what is recognised where on a member, so what stands on the array, and where it begins
``block_facts``       which block must be where, and how it is recognised: by ``volumes`` (partition tables,
                      LVM, LUKS), ``ext4``, ``ext4_blocks``, ``xfs``, ``xfs_inodes``, ``btrfs``, ``crc32c``
``geometries``        which geometries are asked about; ``striping`` has where each of them puts a byte
``hypothesis``        one geometry, with the blocks that were found for it
``exploration``       many of them tested on facts, and the orders of devices that fit each best
``ranking``           candidates in the order of what speaks for them; those that read the same are one
``logical_array``     a candidate read as one device: do its members agree, is what stands on it right
``weighing``          candidates against each other, a member that is outdated, and what is said of them
``report``            the result in words; ``results`` has its records

``reshape_progress`` asks the same facts how far a reshape has gone.
"""
