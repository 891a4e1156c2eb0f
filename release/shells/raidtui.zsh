#compdef raidtui
# zsh completion for raidtui. Generated from its command line.

_raidtui_arrays() {
    local -a found=(/dev/md/*(N:t) /sys/block/*/md(N:h:t))
    compadd -a found
}

_raidtui_devices() {
    local -a found=(/sys/class/block/^(loop|ram|zram|sr|fd)*(N:t))
    compadd -a found
}

# (the tables are generated here)
setopt localoptions extendedglob
_raidtui "$@"
