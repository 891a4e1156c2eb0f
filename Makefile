# make help lists the targets. Only GNU make, a POSIX shell and Python >= 3.11 are needed to begin with.
#
# Variables:
#   ARGS=...     what is passed on (run: to raidtui, test and snapshots: to pytest, bench, torture, power-cuts, boot-proof: to those)
#   PYTHON=...   the Python to make .venv with
#   APT=no       never install system packages, not even as root
#   WORKERS=...  how many processes share the tests out, each with a guest of its own (2)
#   WHAT=tui     for make lab and lab-qemu: raidtui in the guest instead of a shell

SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
# The first that is new enough, and can make an environment, is taken.
PYTHON ?=
PYTHONS := $(or $(PYTHON),/usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11)
RUN_STAMP := $(VENV)/installed-run
DEV_STAMP := $(VENV)/installed-dev
KERNEL := $(VENV)/lab-kernel
SERVERS := $(VENV)/lab-servers
SERVER_PACKAGES := openssh-server libwrap0 libnsl2 libtirpc3 prometheus prometheus-node-exporter
PIP := $(PY) -m pip --disable-pip-version-check --quiet --no-input
APT ?= yes
APT_GET := DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120
SBIN := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
ARGS ?=
WORKERS ?= 2
WHAT ?= shell

# Shell functions for the recipes below.
define FUNCTIONS
may_install() { [ "$(APT)" != no ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }; \
install() { \
    echo "Installing system packages: $$*"; \
    { $(APT_GET) update || true; $(APT_GET) install -y --no-install-recommends "$$@"; } </dev/null >/dev/null; \
}; \
new_enough() { "$$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }; \
complete() { "$$1" -c 'import ensurepip, venv' 2>/dev/null; }; \
choose() { \
    chosen=; first=; \
    for each in $(PYTHONS); do \
        new_enough "$$each" || continue; \
        first=$${first:-$$each}; \
        if complete "$$each"; then chosen=$$each; return; fi; \
    done; \
}; \
unpack_kernel() { \
    package=$$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: //p' | head -n 1); \
    if [ -z "$$package" ]; then return 1; fi; \
    rm -rf $(KERNEL).part && mkdir $(KERNEL).part || return; \
    (cd $(KERNEL).part && $(APT_GET) -o APT::Sandbox::User=root download "$$package") && \
    dpkg-deb --fsys-tarfile $(KERNEL).part/*.deb | tar -x -C $(KERNEL).part --exclude=sound \
        --exclude=drivers/gpu --exclude=drivers/media --exclude=drivers/net --exclude=./usr && \
    PATH="$(SBIN)" depmod -b $(KERNEL).part "$${package#linux-image-}" && \
    rm -rf $(KERNEL).part/*.deb $(KERNEL) && mv $(KERNEL).part $(KERNEL); \
}; \
unpack_servers() { \
    rm -rf $(SERVERS).part && mkdir -p $(SERVERS).part/debs || return; \
    (cd $(SERVERS).part/debs && $(APT_GET) -o APT::Sandbox::User=root download $(SERVER_PACKAGES)) && \
    for deb in $(SERVERS).part/debs/*.deb; do dpkg-deb -x "$$deb" $(SERVERS).part || return; done && \
    rm -rf $(SERVERS).part/debs $(SERVERS).part/usr/share $(SERVERS) && mv $(SERVERS).part $(SERVERS); \
}; \
outcome() { if [ "$${RAIDTUI_LAB:-}" = require ]; then echo fail; else echo "be skipped"; fi; }
endef

.DEFAULT_GOAL := help
.PHONY: help run test check lab lab-qemu bench torture whole wrecks snapshots system kernel servers clean
.PHONY: dist dist-test versions

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: $(RUN_STAMP) ## install into .venv and start raidtui (ARGS="--demo")
	@$(PY) -m raidtui $(ARGS)

test: system kernel servers check ## everything: linters, tests, the laboratory; as root missing system packages are installed
	@$(PY) -m pytest --numprocesses $(WORKERS) --dist loadgroup --no-loadscope-reorder $(ARGS)

check: $(DEV_STAMP) ## the linters alone: ruff, mypy, vulture (dead code), import contracts
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) -m vulture
	@$(PY) -c 'import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())'

lab: system $(DEV_STAMP) ## a guest with real arrays, for a person: a shell, or WHAT=tui
	@$(PY) -m tests.lab $(WHAT)

lab-qemu: system kernel $(DEV_STAMP) ## a slower guest with SATA, NVMe, SMART and governors: a shell, or WHAT=tui
	@$(PY) -m tests.lab --qemu $(WHAT)

bench: $(DEV_STAMP) ## measure start, quiet, cost (ARGS="--quick")
	@$(PY) -m benchmarks $(ARGS)

torture: system $(DEV_STAMP) ## hours of random trouble, seeded and resumable (ARGS="power-cut --minutes 60 --state FILE")
	@$(PY) -m tests.torture $(ARGS)

.PHONY: power-cuts
power-cuts: system $(DEV_STAMP) ## the power cut at ten points of each conversion (ARGS="--only '5 to 6' --points 20,95 --state FILE")
	@$(PY) -m tests.torture.conversion_cut $(ARGS)

.PHONY: ansible-sanity
ansible-sanity: $(DEV_STAMP) ## ansible-test sanity on the collection of fleet/ansible; it downloads its linters
	@version=$$($(PY) -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	place=$$folder/ansible_collections/raidtui/raidtui && mkdir -p "$${place%/*}" && cp -r fleet/ansible "$$place" && \
	cd "$$place" && git init -q . && git add -A && \
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" LC_ALL=C.UTF-8 ansible-test sanity --python $$version $(ARGS)

.PHONY: boot-proof
boot-proof: system $(DEV_STAMP) ## as root: Debian on md, broken in many ways, booted without each disk (ARGS="--only luks", "--report")
	@$(FUNCTIONS); \
	missing=; \
	for pair in debootstrap=debootstrap sgdisk=gdisk mkfs.vfat=dosfstools; do \
	    PATH="$(SBIN)" command -v "$${pair%%=*}" >/dev/null 2>&1 || missing="$$missing $${pair#*=}"; \
	done; \
	[ -e /usr/share/OVMF/OVMF_CODE_4M.fd ] || missing="$$missing ovmf"; \
	if [ -n "$$missing" ] && may_install; then install $$missing; fi
	@$(PY) -m tests.boot_proof $(ARGS)

whole: system kernel servers $(DEV_STAMP) ## all tests with what make test leaves out: every place, every wreck; hours (ARGS="-k killed", "--lf")
	@RAIDTUI_WHOLE=yes $(PY) -m pytest --numprocesses $(WORKERS) --dist loadgroup --no-loadscope-reorder $(ARGS)

wrecks: system $(DEV_STAMP) ## of it, each wreck saved by what raidtui offers (ARGS="-k r5-zero", "--lf")
	@RAIDTUI_WHOLE=yes $(PY) -m pytest tests/lab/test_rescue_wrecks.py tests/lab/test_rescue_screen.py $(ARGS)

# Interpreter and roots are kept in ~/.cache/raidtui-release (RAIDTUI_RELEASE_CACHE), so that only the first time takes long.
dist: $(DEV_STAMP) ## as root, on Debian: the one file, the Debian package, the RPM, wheel and sdist, in dist/
	@$(FUNCTIONS); \
	missing=; \
	for pair in debootstrap=debootstrap dpkg-deb=dpkg rpmbuild=rpm strip=binutils git=git; do \
	    PATH="$(SBIN)" command -v "$${pair%%=*}" >/dev/null 2>&1 || missing="$$missing $${pair#*=}"; \
	done; \
	[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing="$$missing debian-archive-keyring"; \
	if [ -n "$$missing" ] && may_install; then install $$missing; fi
	@MIRROR="$(MIRROR)" $(PY) -m release

dist-test: dist ## what make dist has built, in bare roots of Debian 11, 12 and 13 (ARGS="jammy noble")
	@$(PY) -m tests.release $(ARGS)

versions: $(DEV_STAMP) ## the tests under Python 3.11 to 3.14, and with the oldest dependencies (ARGS="--only 3.13 tests/plans")
	@$(PY) -m release.versions $(ARGS)

snapshots: $(DEV_STAMP) ## accept the pictures as they are now; look at each of them afterwards
	@$(PY) -m pytest tests/app tests/frame tests/features tests/plans --snapshot-update $(ARGS)

clean: ## remove all that was built, .venv and caches
	@rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis snapshot_report.html
	@find raidtui tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} +

# What the laboratory needs besides Python. Without it, its tests are skipped, or fail under RAIDTUI_LAB=require.
system:
	@$(FUNCTIONS); \
	missing=; \
	for pair in linux.uml=user-mode-linux mdadm=mdadm udevadm=udev modprobe=kmod pivot_root=util-linux mount=mount pgrep=procps \
	    pvcreate=lvm2 make-bcache=bcache-tools sfdisk=fdisk mkfs.ext4=e2fsprogs mkfs.xfs=xfsprogs systemd-tmpfiles=systemd fio=fio \
	    qemu-system-x86_64=qemu-system-x86 smartctl=smartmontools ssh=openssh-client ssh-keygen=openssh-client \
	    debootstrap=debootstrap patchelf=patchelf strip=binutils groff=groff-base \
	    mkfs.vfat=dosfstools ddrescue=gddrescue rsync=rsync btrfs=btrfs-progs cryptsetup=cryptsetup-bin iostat=sysstat ledctl=ledmon; do \
	    PATH="$(SBIN)" command -v "$${pair%%=*}" >/dev/null 2>&1 || missing="$$missing $${pair#*=}"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(uname -sm)" != "Linux x86_64" ]; then \
	    why="their guests run on x86-64 Linux only"; \
	elif may_install; then \
	    if install $$missing; then exit 0; fi; why="apt-get could not install:$$missing"; \
	else \
	    why="not installed:$$missing (as root, make test installs them: apt-get install$$missing)"; \
	fi; \
	echo "Tests that need real arrays will $$(outcome). $$why"

# A stock kernel for QEMU's guest. It is unpacked beside the tests' tools, never installed.
kernel: | $(PY)
	@$(FUNCTIONS); \
	missing=$$($(PY) -m tests.lab.guests.qemu.kernel 2>&1) && exit 0; \
	if [ "$$(uname -sm)" = "Linux x86_64" ] && may_install; then \
	    echo "Unpacking Debian's kernel into $(KERNEL)"; \
	    if unpack_kernel 2>/dev/null || { $(APT_GET) update >/dev/null; unpack_kernel; }; then exit 0; fi; \
	fi; \
	echo "Tests that need SATA, NVMe or governors will $$(outcome): $$missing"

# Servers for tests, with ports and keys of their own. They are unpacked, never installed: no service is started.
servers: | $(PY)
	@$(FUNCTIONS); \
	missing=$$(cd tests && PATH="$(SBIN)" ../$(PY) servers.py 2>/dev/null) && exit 0; \
	if [ "$$(uname -s)" = Linux ] && may_install; then \
	    echo "Unpacking Debian's sshd, Prometheus and node_exporter into $(SERVERS)"; \
	    if unpack_servers 2>/dev/null || { $(APT_GET) update >/dev/null; unpack_servers; }; then exit 0; fi; \
	fi; \
	echo "Tests that need sshd or Prometheus will $$(outcome): $$missing"

$(PY):
	@$(FUNCTIONS); \
	choose; \
	if [ -z "$$chosen" ] && may_install; then install python3 python3-venv && choose; fi; \
	if [ -z "$$chosen" ] && [ -n "$$first" ]; then \
	    echo "$$first has no venv module. Install it (Debian, Ubuntu: apt install python3-venv), then try again." >&2; exit 1; \
	elif [ -z "$$chosen" ]; then \
	    echo "raidtui needs Python 3.11 or newer; none of these is: $(PYTHONS)" >&2; \
	    echo "Install one (Debian 12 or newer: apt install python3 python3-venv), or name it: make PYTHON=/path/to/python" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$($$chosen --version)"; \
	"$$chosen" -m venv --clear $(VENV)

# pyproject.toml says what is installed, so only its changes install again.
$(RUN_STAMP): pyproject.toml | $(PY)
	@echo "Installing raidtui and what it needs into $(VENV)"
	@$(PIP) install --editable .
	@$(PY) -m compileall -qq raidtui $(VENV)/lib || true
	@touch $@

# pip before 25.1 knows no dependency groups, so the group is read here.
$(DEV_STAMP): pyproject.toml $(RUN_STAMP)
	@echo "Installing what tests and linters need into $(VENV)"
	@$(PY) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")' >$(VENV)/dev.txt
	@$(PIP) install --requirement $(VENV)/dev.txt
	@touch $@
