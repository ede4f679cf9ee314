#!/bin/sh
# Write the package index of Debian 12 and its English descriptions to the files that
# examples/a_week_with_debian.py reads. Run it on Debian 12, or in a container of it:
#
#     sh examples/debian_index.sh data
#
# apt downloads both (16 MB) from the mirror it is set up with, into a temporary folder: no root is
# needed, and nothing of the system changes.
set -eu
folder=${1:?give the folder for the data}/debian-packages
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$folder" "$apt/lists/partial" "$apt/cache"

apt() {
    command=$1
    shift
    apt-get -q -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" \
        -o APT::Sandbox::User=root -o Acquire::Languages=en "$command" "$@"
}

apt update
for kind in Packages Translations; do
    # Security and other updates have indexes of their own, which are left out.
    index=$(apt indextargets --format '$(FILENAME)' \
        "Created-By: $kind" "Codename: bookworm" "Component: main" | head -n 1)
    if [ ! -f "$index" ]; then
        echo "apt has no $kind of Debian 12 (bookworm), main: see /etc/apt/sources.list" >&2
        exit 1
    fi
    case $kind in
        Packages) name=Packages.xz ;;
        Translations) name=Translation-en.xz ;;
    esac
    # apt stores its indexes compressed in one of several ways.
    /usr/lib/apt/apt-helper cat-file "$index" | xz -1 >"$folder/$name"
done
ls -l "$folder"
