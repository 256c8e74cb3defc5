"""The Java on this machine, for engines whose game wants one release of it."""

import re
import shutil
import subprocess

from mcrl.doctor.machine import Finding

_WAIT_S = 60


def examine_java(release: str) -> Finding:
    """Look for the Java that a game would be started with; `release` is the one that it needs, such as "8"."""
    wanted = f"release {release} is wanted"
    remedy = f"conda install -c conda-forge openjdk={release}   # or any other build of Java {release}, first on PATH"
    if shutil.which("java") is None:
        return Finding("java", "bad", f"not found; {wanted}", remedy)
    try:
        asked = subprocess.run(
            ["java", "-version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_WAIT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("java", "bad", f"cannot be run ({error})", remedy)
    # Anywhere in what it says: before it come lines such as "Picked up JAVA_TOOL_OPTIONS: ...".
    version = re.search(r'version "([^"]+)"', asked.stderr + asked.stdout)
    if version is None:
        return Finding("java", "note", f"does not tell its version; {wanted}")
    # Release 8 calls itself 1.8.
    if re.match(rf"(1\.)?{release}\b", version.group(1)):
        return Finding("java", "ok", version.group(1))
    return Finding("java", "bad", f"{version.group(1)}; {wanted}", remedy)
