# What the gate and the slow suite share: the environment, and how stages are told.
# Sourced with the checkout as working folder.

export PIP_DISABLE_PIP_VERSION_CHECK=1
export OMP_NUM_THREADS=1 # two contending threads are slower than one
unset PYTHONDONTWRITEBYTECODE # else each of hundreds of processes compiles torch anew: 5 s of CPU
export NODEGRAFT_CACHE="$PWD/.venv-ci/nodegraft-cache"
real_data="$PWD/../shared/data"
bin="$PWD/.venv-ci/bin"
timings=""

stage() {
    local name=$1 started=$SECONDS
    shift
    printf '\n=== %s\n' "$name"
    if ! "$@"; then
        printf '\nFAILED at: %s\n' "$name"
        exit 1
    fi
    timings+=$(printf '%5d s  %s' $((SECONDS - started)) "$name")$'\n'
}

environment() {
    rm -rf .venv-ci
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed"; return 1; }
    python3 -m venv .venv-ci
    # A real PostgreSQL is needed by some tests, and there is none on every machine.
    if [ "${CI:-}" = true ] && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq postgresql || return 1
    fi
    # So is a browser, for the page of the service.
    if [ "${CI:-}" = true ] && ! command -v chromium >/dev/null; then
        apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium || return 1
    fi
    # Pages of the docs back a store up and ask a service by these.
    if [ "${CI:-}" = true ] && ! { command -v curl && command -v sqlite3; } >/dev/null; then
        apt-get update -qq && apt-get install -y -qq --no-install-recommends curl sqlite3 || return 1
    fi
    # Not compiled beforehand: most of what comes along is never imported.
    "$bin/pip" install -qq --no-compile -c constraints.txt -e '.[dev]'
}

slow_stages() {
    # Folders and files of tests/ that have slow tests, coverage, Ray Serve, and integrations.
    grep -rlE 'slow|NODEGRAFT_SLOW' tests --include='test_*.py' | cut -d/ -f1,2 | sort -u
    echo coverage
    echo ray-serve
    echo integrations
}
