"""What results depend on besides the plan: versions and machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from importlib import metadata
from typing import Any

_PACKAGES = ("kempe", "numpy", "scipy", "scikit-learn", "ortools", "highspy")


def environment() -> tuple[str, dict[str, Any]]:
    """Short name and content of the description of this machine and its packages."""
    facts: dict[str, Any] = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_mb": _memory_mb(),
        "packages": {name: version for name in _PACKAGES if (version := _version(name))},
    }
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    return digest.hexdigest()[:8], facts


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1] for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0].strip() if names else platform.processor()


def _memory_mb() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (ValueError, OSError, AttributeError):
        return None
