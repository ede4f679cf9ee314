"""End with status 0 if a URL responds with 200; images have no curl."""

import sys
from urllib.error import URLError
from urllib.request import urlopen


def main() -> int:
    """Return the exit status for the URL on the command line."""
    try:
        with urlopen(sys.argv[1], timeout=2.5) as response:  # noqa: S310
            return int(response.status != 200)
    except (URLError, OSError):
        return 1


if __name__ == "__main__":
    sys.exit(main())
