"""Whether a service is traced: what OpenTelemetry's own variables say."""

import os
from collections.abc import Mapping

from nodegraft.base.errors import ParameterError

VARIABLE = "OTEL_TRACES_EXPORTER"
"""Says where spans go; the other variables of OpenTelemetry are read by its packages."""

PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
"""Say how a collector is spoken to, the first one that is set."""

KNOWN = ("otlp", "console")
SPOKEN = "http/protobuf"


def wanted_exporters(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Where spans go; nowhere unless somebody says so.

    >>> wanted_exporters({}), wanted_exporters({"OTEL_TRACES_EXPORTER": "otlp,console"})
    ((), ('otlp', 'console'))

    Args:
        environment: Names and values of variables.
    """
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ()
    names = (name.strip().lower() for name in environment.get(VARIABLE, "").split(","))
    wanted = tuple(dict.fromkeys(name for name in names if name not in ("", "none")))
    for name in wanted:
        if name not in KNOWN:
            raise ParameterError(
                f"{VARIABLE} says {name!r}, which is not known here. Use {' or '.join(KNOWN)}; "
                "unset it for no traces."
            )
    spoken = next((environment[name] for name in PROTOCOLS if environment.get(name)), SPOKEN)
    if "otlp" in wanted and spoken != SPOKEN:
        raise ParameterError(
            f"{PROTOCOLS[1]} says {spoken!r}. A service sends its traces by {SPOKEN}: unset it, "
            "and give the collector's port for HTTP (4318 by custom)."
        )
    return wanted
