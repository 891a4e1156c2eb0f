# What a package does before and after its files change; the same for both kinds.

refuse_running() {
    # The worker of a job imports modules as it needs them: without its files, it would end in the middle.
    if worker_lives || { [ -d /var/lib/raidtui/jobs ] && command -v raidtui >/dev/null &&
        raidtui jobs --json 2>/dev/null | grep -Eq '"state": "(running|goes on)"'; }; then
        echo "raidtui: a job is running; wait for its end, or cancel it: raidtui jobs" >&2
        exit 1
    fi
}

worker_lives() {
    # Whether a process that a journal names lives, whatever state the job is in: same boot, number and start, which is
    # noted in seconds with up to two digits behind the point; the kernel counts hundredths (proc_pid_stat(5), field 22).
    read -r boot </proc/sys/kernel/random/boot_id || return 1
    cat /var/lib/raidtui/jobs/*/journal.jsonl 2>/dev/null | sed -n 's/.*"event": "work", "pid": \([0-9]*\),'` \
        `' "started_s": \([0-9]*\)\.\([0-9]*\), "boot": "'"$boot"'".*/\1 \2 \300/p' | (
        while read -r pid whole part; do
            read -r stat 2>/dev/null <"/proc/$pid/stat" || continue
            # After the name, which may contain anything, the state is the first field.
            set -f
            set -- ${stat##*) }
            case $1 in [ZX]) continue ;; esac
            [ "${20}" -eq "$whole${part%"${part#??}"}" ] && exit 0
        done
        exit 1
    )
}

reload_units() {
    if [ -d /run/systemd/system ]; then
        systemctl --system daemon-reload || true
    fi
}

restart_units() {
    # What runs goes on with the new version; what is not enabled stays so.
    if [ -d /run/systemd/system ]; then
        systemctl try-restart raidtui-wear.timer raidtui-advice.timer raidtui-alert.timer 'raidtui-pace@*.service' || true
    fi
}

stop_units() {
    if [ -d /run/systemd/system ]; then
        systemctl disable --now raidtui-wear.timer raidtui-advice.timer raidtui-alert.timer || true
        # Each gives the limits of its array back.
        systemctl stop 'raidtui-pace@*.service' || true
    fi
    if [ -e /etc/raidtui/alert-hook ]; then
        echo "raidtui: mdadm and smartd may still call /etc/raidtui/alert-hook, which needs raidtui:" >&2
        echo "raidtui: look for it in mdadm.conf and smartd.conf" >&2
    fi
}

say_kept() {
    for each in /var/lib/raidtui /etc/raidtui /etc/default/raidtui-pace /etc/udev/rules.d/60-raidtui-io.rules \
        /etc/sysctl.d/90-raidtui.conf /etc/tmpfiles.d/raidtui.conf; do
        if [ -e "$each" ]; then
            echo "raidtui: kept $each; remove it by hand where it is not wanted" >&2
        fi
    done
}
