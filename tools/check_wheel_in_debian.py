#!/usr/bin/env python3
"""Checks that a wheel installs and works in a minimal Debian of debootstrap, with python3-venv.

    check_wheel_in_debian.py WHEEL SUITE --folder FOLDER [--keep]

SUITE is a release of Debian: bookworm has Python 3.11, trixie 3.13, forky 3.14. FOLDER must not
exist; it becomes the system, and is removed afterwards. One command installs the wheel with its
CUDA dependencies, then tests/python is run. Tests that need a C compiler are skipped. Requires root
and debootstrap.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MIRROR = "http://deb.debian.org/debian"
# The machine's configuration of the network and of pip, which is copied into the system.
OF_THIS_MACHINE = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")


def make_system(suite, folder):
    """Runs debootstrap. A release for which debootstrap has no script yet is made like sid."""
    script = Path("/usr/share/debootstrap/scripts", suite)
    subprocess.run(["debootstrap", "--variant=minbase", "--include=python3-venv,ca-certificates", suite, folder, MIRROR,
                    script if script.exists() else script.with_name("sid")], check=True, stdout=subprocess.DEVNULL)
    for name in OF_THIS_MACHINE:
        if Path(name).exists():
            shutil.copy(name, folder / name[1:])


def run_inside(folder, *command, where="/"):
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                   "PIP_ROOT_USER_ACTION": "ignore", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    # /proc is mounted while the command runs.
    enter = 'mount -t proc proc "$1/proc" && exec chroot "$@"'
    change = 'cd "$0" && exec "$@"'
    subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", enter, "sh", folder,
                    "sh", "-c", change, where, *command], check=True, env=environment)


def check(wheel, folder):
    shutil.copytree(ROOT / "tests/python", folder / "tunec/tests/python")
    shutil.copytree(ROOT / "docs", folder / "tunec/docs")
    shutil.copy(wheel, folder / "tunec")
    run_inside(folder, "python3", "-m", "venv", "/venv")
    install = "/venv/bin/pip", "install", "--quiet"
    shutil.copy(ROOT / "tools/python_packages/wheel.txt", folder / "tunec")
    run_inside(folder, *install, "--require-hashes", "-r", "/tunec/wheel.txt")
    run_inside(folder, *install, "--no-index", f"/tunec/{wheel.name}[cuda]")
    run_inside(folder, "/venv/bin/python", "-c", "import sys, tunec; print(sys.version, tunec.version())")
    run_inside(folder, "/venv/bin/python", "-B", "-m", "unittest", where="/tunec/tests/python")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("suite")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--keep", action="store_true", help="leave the system where it is")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or arguments.folder.exists():
        parser.error("it must run as root" if os.geteuid() else f"{arguments.folder} exists")
    try:
        make_system(arguments.suite, arguments.folder)
        check(arguments.wheel, arguments.folder)
    finally:
        if not arguments.keep:
            shutil.rmtree(arguments.folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
