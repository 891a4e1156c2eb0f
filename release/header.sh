#!/bin/sh
# raidtui @VERSION@ for Linux on x86-64, with its own Python, in one file. It unpacks itself once, and starts from there.
#
#   RAIDTUI_CACHE=FOLDER    where to unpack; else for root /var/cache/raidtui, for others ~/.cache/raidtui, and /var/tmp
#                           where that cannot be written to, or is mounted noexec
#   RAIDTUI_VERIFY=yes      compare each unpacked file with its SHA-256 first, and unpack again where one differs
set -f
id=@ID@
sha256=@SHA256@
lines=@LINES@

fail() {
    printf 'raidtui: %s\n' "$*" >&2
    exit 73
}

# Whether the folder $1 is ours: no one else can have put something there.
ours() {
    [ -d "$1" ] && [ ! -h "$1" ] && [ -O "$1" ]
}

# Whether below $1 this version is whole, ours, and may be executed: test -x says no where it is mounted noexec.
usable() {
    ours "$1" && ours "$1/$id" && [ -e "$1/$id/.unpacked" ] && [ -x "$1/$id/bin/@PYTHON@" ]
}

intact() {
    (cd "$1" && sha256sum --check --quiet --strict .sha256 >/dev/null 2>&1)
}

# Unpack below $1. 0: it is there. Else $why says why not.
unpack() {
    (umask 077 && mkdir -p "$1") 2>/dev/null
    if [ ! -d "$1" ] || [ ! -w "$1" ]; then why="$1 cannot be written to"; return 1; fi
    if ! ours "$1"; then why="$1 belongs to another user, or is a symbolic link"; return 1; fi
    new=$(mktemp -d "$1/.new.XXXXXX" 2>/dev/null) || { why="$1 cannot be written to"; return 1; }
    trap 'rm -rf "$new"' EXIT
    trap 'exit 130' INT HUP TERM
    printf '#!/bin/sh\n' >"$new/try" 2>/dev/null && chmod 700 "$new/try"
    if [ ! -x "$new/try" ]; then
        why="$1 is on a file system that is mounted noexec"
    elif [ "$(tail -n "+$lines" "$0" | sha256sum | cut -d ' ' -f 1)" != "$sha256" ]; then
        rm -rf "$new"
        fail "$0 is damaged: its content does not have the SHA-256 that it should have; download it again"
    elif ! (umask 022 && tail -n "+$lines" "$0" | gzip -dc | tar -xf - -C "$new" --no-same-owner && : >"$new/.unpacked") 2>"$new/try"; then
        why="it cannot be unpacked to $1: $(tail -n 1 "$new/try")"
    else
        rm -f "$new/try"
        # Another start may have been faster.
        mv -T "$new" "$1/$id" 2>/dev/null || rm -rf "$new"
        trap - EXIT INT HUP TERM
        if usable "$1"; then return 0; fi
        why="$1/$id is there, but cannot be used; remove it"
        return 1
    fi
    rm -rf "$new"
    trap - EXIT INT HUP TERM
    return 1
}

user=$(id -u)
if [ -n "${RAIDTUI_CACHE:-}" ]; then
    set -- "$RAIDTUI_CACHE" "" "$@"
elif [ "$user" = 0 ]; then
    set -- /var/cache/raidtui /var/tmp/raidtui-0 "$@"
elif [ -n "${XDG_CACHE_HOME:-}${HOME:-}" ]; then
    set -- "${XDG_CACHE_HOME:-${HOME:-}/.cache}/raidtui" "/var/tmp/raidtui-$user" "$@"
else
    set -- "/var/tmp/raidtui-$user" "" "$@"
fi

found='' reasons=''
for base in "$1" "$2"; do
    if [ -n "$base" ] && usable "$base"; then
        if [ "${RAIDTUI_VERIFY:-no}" != yes ] || intact "$base/$id"; then found=$base/$id; break; fi
        printf 'raidtui: %s differs from what it should be, and is unpacked again\n' "$base/$id" >&2
        rm -rf "${base:?}/$id"
    fi
done
if [ -z "$found" ]; then
    for base in "$1" "$2"; do
        [ -n "$base" ] || continue
        if unpack "$base"; then found=$base/$id; break; fi
        reasons="$reasons$why; "
    done
fi
shift 2
[ -n "$found" ] || fail "${reasons}name a folder that can be written to and executed from: RAIDTUI_CACHE=FOLDER $0"

RAIDTUI_FILE=$(readlink -f "$0")
export RAIDTUI_FILE
exec "$found/bin/@PYTHON@" -I -c 'from raidtui.__main__ import main; main()' "$@"
exit 73
# What follows is a tar archive, compressed by gzip.
