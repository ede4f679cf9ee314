"""Registry of classes by name, which are searched in a package and in plug-ins' entry points."""

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Generic, TypeGuard, TypeVar

from nodegraft.base.errors import NodegraftError, PluginWarning, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Registry of all concrete subclasses of ``base`` that have an attribute ``name``.

    The registry searches every module of ``package`` and the entry point group of plug-ins.

    Args:
        kind: Kind of the classes for error messages, such as "method" or "dataset".
        package: Name of the package to search.
        base: Base class of the registered classes.
        group: Name of the entry point group; None for the name of the package.
    """

    def __init__(self, kind: str, package: str, base: type[T], group: str | None = None) -> None:
        self.kind = kind
        self.package = package
        self.base = base
        self.group = group or package

    @cached_property
    def _classes(self) -> dict[str, type[T]]:
        classes: dict[str, type[T]] = {}
        for candidate in (*self._scanned(), *self._plugged_in()):
            name: str = candidate.name  # type: ignore[attr-defined]
            if classes.setdefault(name, candidate) is not candidate:
                raise NodegraftError(
                    f"Two {self.kind}s are named {name!r}: "
                    f"{classes[name].__module__} and {candidate.__module__}. Rename one."
                )
        return dict(sorted(classes.items()))

    def _scanned(self) -> Iterator[type[T]]:
        for info in pkgutil.iter_modules(_paths(self.package)):
            yield from self._defined_in(importlib.import_module(f"{self.package}.{info.name}"))

    def _in_module_of(self, name: str) -> Iterator[type[T]]:
        module = name.replace("-", "_")
        if module in (info.name for info in pkgutil.iter_modules(_paths(self.package))):
            yield from self._defined_in(importlib.import_module(f"{self.package}.{module}"))

    def _plugged_in(self) -> Iterator[type[T]]:
        for point in entry_points(group=self.group):
            try:
                loaded = point.load()
            except Exception as error:
                # Only warn, because a broken plug-in must not make the whole command fail.
                message = f"plug-in {point.name!r} ({point.value}) was left out: {error}"
                warnings.warn(message, PluginWarning, stacklevel=2)
                continue
            if isinstance(loaded, ModuleType):
                yield from self._defined_in(loaded)
            elif self._belongs(loaded):
                yield loaded
            else:
                message = f"plug-in {point.name!r} ({point.value}) was left out: not a {self.kind}"
                warnings.warn(message, PluginWarning, stacklevel=2)

    def _defined_in(self, module: ModuleType) -> Iterator[type[T]]:
        """Yield classes that a module defines, or that a package imports from its own modules."""
        for value in vars(module).values():
            if self._belongs(value) and f"{value.__module__}.".startswith(f"{module.__name__}."):
                yield value

    def _belongs(self, value: Any) -> TypeGuard[type[T]]:
        return (
            inspect.isclass(value)
            and issubclass(value, self.base)
            and not inspect.isabstract(value)
            and hasattr(value, "name")
        )

    def names(self) -> list[str]:
        """Return the sorted names of all registered classes."""
        return list(self._classes)

    def get(self, name: str) -> type[T]:
        """Return the class with this name; for an unknown name, the error suggests a close name."""
        if "_classes" not in vars(self) and not entry_points(group=self.group):
            # Import the module of this name only, because importing all modules takes seconds.
            for candidate in self._in_module_of(name):
                if candidate.name == name:  # type: ignore[attr-defined]
                    return candidate
        try:
            return self._classes[name]
        except KeyError:
            raise UnknownNameError(self.kind, name, self._classes) from None


def _paths(package: str) -> list[str]:
    return list(importlib.import_module(package).__path__)
