"""An ACPI table that gives each of QEMU's processors speeds to choose from, so that cpufreq has governors.

acpi-cpufreq writes the wanted state to an I/O port and reads the actual one from it. The page registers of
the ISA DMA controller are such ports: they keep what is written, and nothing else uses them. Table and byte
code: the ACPI specification 6.4, chapters 5.2.6, 8.4.5 and 20.
"""

import struct

FREQUENCIES_MHZ = (2600, 2000, 1600, 800)
PORTS = (0x81, 0x82, 0x83, 0x87)  # one for each processor
LATENCY_US = 10
SCOPE, NAME, PACKAGE, BUFFER = 0x10, 0x08, 0x12, 0x11  # operators
BYTE, WORD, DWORD = 0x0A, 0x0B, 0x0C  # prefixes of constants


def table(processors: int) -> bytes:
    """The table for that many processors, four at most."""
    code = b"".join(_processor(index, port) for index, port in enumerate(PORTS[:processors]))
    header = struct.pack(
        "<4sIBB6s8sI4sI", b"SSDT", 36 + len(code), 2, 0, b"RAIDTU", b"CPUFREQ ", 1, b"LAB ", 1
    )
    whole = bytearray(header + code)
    whole[9] = -sum(whole) & 0xFF  # the sum of all bytes is 0
    return bytes(whole)


def _processor(index: int, port: int) -> bytes:
    """What the processor of that number, C000 and so on, can do."""
    states = [
        _package(_number(mhz), _number(mhz * 10), *[_number(LATENCY_US)] * 2, *[_number(state)] * 2)
        for state, mhz in enumerate(FREQUENCIES_MHZ)
    ]
    path = b"\\\x2f\x03_SB_CPUSC%03X" % index
    return _sized(
        bytes([SCOPE]),
        path
        + _named(b"_PCT", _package(_register(port), _register(port)))
        + _named(b"_PSS", _package(*states))
        + _named(b"_PPC", _number(0)),
    )


def _register(port: int) -> bytes:
    """A buffer with the descriptor of one I/O port of 8 bits, and its end tag."""
    descriptor = struct.pack("<BHBBBBQBB", 0x82, 12, 1, 8, 0, 1, port, 0x79, 0)
    return _sized(bytes([BUFFER]), _number(len(descriptor)) + descriptor)


def _named(name: bytes, value: bytes) -> bytes:
    return bytes([NAME]) + name + value


def _package(*elements: bytes) -> bytes:
    return _sized(bytes([PACKAGE]), bytes([len(elements)]) + b"".join(elements))


def _number(value: int) -> bytes:
    if value < 1 << 8:
        return bytes([BYTE, value])
    return struct.pack("<BH", WORD, value) if value < 1 << 16 else struct.pack("<BI", DWORD, value)


def _sized(operator: bytes, content: bytes) -> bytes:
    """An operator and its content, with the length between them, which counts itself."""
    if len(content) + 1 < 1 << 6:
        return operator + bytes([len(content) + 1]) + content
    length = len(content) + 2
    assert length < 1 << 12, "a table of this size needs more bytes for its lengths"
    return operator + bytes([1 << 6 | length & 0xF, length >> 4]) + content
