# fish completion for raidtui. Generated from its command line.

function __raidtui_arrays
    for each in /dev/md/* /sys/block/*/md
        string replace -r '/md$' '' -- $each | string replace -r '.*/' ''
    end
end

function __raidtui_devices
    for each in /sys/class/block/*
        string replace -r '.*/' '' -- $each | string match -v -r '^(loop|ram|zram|sr|fd)'
    end
end

function __raidtui_at
    set -l path raidtui
    for word in (commandline -opc)[2..-1]
        if contains -- "$path $word" $__raidtui_known
            set path "$path $word"
        end
    end
    test "$path" = "$argv"
end

complete -c raidtui -f
# (the tables are generated here)
