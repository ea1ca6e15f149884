# Bash completion for farlands.
# shellcheck shell=bash

_farlands() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local commands='serve tile render describe check-config --version --help'
    local serve='--config --world --watch --listen --cache --help' tile='--config -o --help'
    local render='--world --layer --zoom --bbox --scale --format --tiles --shard --dry-run --list --export --threads
        --config --cache --help'
    local describe='--bbox --places --seed --json --threads --config --help'
    local layers='' options=''

    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
        return
    fi
    if [[ $before = --layer || ($command = tile && $word = */*) ]]; then
        # The program prints the layers of each world last, and an empty file configures the built-in ones.
        layers=$("${COMP_WORDS[0]}" check-config /dev/null 2>/dev/null | sed 's/.*, layers //' | tr ' ' '\n' |
            awk '!/^field\./ && !seen[$0]++')
    fi
    [[ $command = serve && $before = --world ]] && before=--config
    case $before in
    --config | --tiles | --export | -o)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --cache)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    --layer)
        # Complete the name after the last comma.
        mapfile -t COMPREPLY < <(compgen -P "${word%"${word##*,}"}" -W "$layers" -- "${word##*,}")
        return
        ;;
    --scale)
        mapfile -t COMPREPLY < <(compgen -W '1 2' -- "$word")
        return
        ;;
    --format)
        mapfile -t COMPREPLY < <(compgen -W 'png webp' -- "$word")
        return
        ;;
    --listen | --world | --zoom | --bbox | --shard | --threads | --places | --seed)
        COMPREPLY=()
        return
        ;;
    esac
    case $command in
    serve) options=$serve ;;
    tile) options=$tile ;;
    render) options=$render ;;
    describe) options=$describe ;;
    check-config) options=--help ;;
    esac
    if [ "$command" = check-config ] && [[ $word != -* ]]; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [ "$command" = tile ] && [[ $word != -* ]]; then
        # The layer is the second part of the path.
        compopt -o nospace
        [[ $word != */* ]] || [[ ${word#*/} = */* ]] ||
            mapfile -t COMPREPLY < <(compgen -P "${word%%/*}/" -S / -W "$layers" -- "${word#*/}")
    else
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    fi
}
complete -F _farlands farlands
