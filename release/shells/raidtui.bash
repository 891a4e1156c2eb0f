# bash completion for raidtui. Generated from its command line.

_raidtui_arrays() {
    local each
    for each in /dev/md/* /sys/block/*/md; do
        [[ -e $each ]] || continue
        each=${each%/md}
        printf '%s\n' "${each##*/}"
    done
}

_raidtui_devices() {
    local each
    for each in /sys/class/block/*; do
        case ${each##*/} in
            loop* | ram* | zram* | sr* | fd*) ;;
            *) printf '%s\n' "${each##*/}" ;;
        esac
    done
}

# (the tables are generated here)
_raidtui() {
    local cur=${COMP_WORDS[COMP_CWORD]} path=raidtui option='' place=0 kind='' many='' words='' index word
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ $word == '=' ]]; then
            continue
        elif [[ $word == -* ]]; then
            option='' many=''
            if _raidtui_value "$path $word"; then option=$word; fi
        elif [[ -n $option ]]; then
            if [[ -z $many ]]; then option=''; fi
        elif _raidtui_options "$path $word"; then
            path="$path $word" place=0
        else
            ((place += 1))
        fi
    done
    if [[ $cur == '=' ]]; then cur=''; fi
    words='' kind=''
    if [[ -n $option ]]; then
        _raidtui_value "$path $option"
    elif [[ $cur == -* ]]; then
        kind=words
        _raidtui_options "$path"
    elif _raidtui_commands "$path"; then
        kind=words
    else
        _raidtui_positional "$path $place"
    fi
    case $kind in
        files)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return
            ;;
        arrays) words=$(_raidtui_arrays) ;;
        devices) words=$(_raidtui_devices) ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _raidtui raidtui
