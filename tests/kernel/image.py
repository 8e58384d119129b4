"""What a guest boots from: a stock Debian kernel and a root file system of this machine's own programs.

Both are made once and kept under XDG_CACHE_HOME, per kernel version; only the project's files are
laid in anew for each run, as a second archive behind the first. Nothing is installed and nothing
needs root: the kernel's package is unpacked. An archive depends on its content alone, so that runs
repeat. Source: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst (newc) and
Documentation/arch/x86/boot.rst (where a bzImage keeps its payload).
"""

import fcntl
import gzip
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import tempfile
import time

PROGRAMS = ("ip", "tc", "dash", "kmod", "aplay", "amixer", "setpriv", "arecordmidi", "chrt", "iperf3")
LINKS = {
    "bin/sh": "dash",
    "bin/arecord": "aplay",
    "sbin/modprobe": "../bin/kmod",
}
MODULES = ("veth", "sch_etf", "sch_mqprio", "sch_taprio", "sch_cbs", "tun", "snd-aloop", "snd-hrtimer",
           "snd-virmidi")
FOLDERS = ("proc", "sys", "dev", "tmp", "run", "project")
ALSA_CONFIGURATION = pathlib.Path("/usr/share/alsa")
ALSA_PARTS = ("alsa.conf", "pcm", "cards/aliases.conf")
KEPT_S = 7 * 24 * 3600  # a root that no tree has used for so long is removed


class Unavailable(Exception):
    """Something that this machine lacks; the text says what to do."""


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "tactus" / "lab"


def run(*command, **options):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
    except FileNotFoundError as error:
        raise Unavailable(f"{command[0]} is not installed") from error
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"{' '.join(map(str, command))}: {error.stderr.strip()}") from error


# ---- archives: a dictionary from path to (mode, content)


def archive(entries):
    parts = []
    for name, (mode, data) in sorted(entries.items()) + [("TRAILER!!!", (0, b""))]:
        path = name.encode() + b"\0"
        fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
        parts += [head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)]
    return b"".join(parts)


def add_file(entries, name, path):
    """A file at `name`, in folders that are made for it."""
    add_data(entries, name, pathlib.Path(path).read_bytes(), os.access(path, os.X_OK))


def add_data(entries, name, data, executable=False):
    add_folder(entries, os.path.dirname(name))
    entries[name] = (stat.S_IFREG | (0o755 if executable else 0o644), data)


def add_folder(entries, name):
    while name:
        entries[name] = (stat.S_IFDIR | 0o755, b"")
        name = os.path.dirname(name)


def add_link(entries, name, target):
    add_folder(entries, os.path.dirname(name))
    entries[name] = (stat.S_IFLNK | 0o777, target.encode())


def add_program(entries, name, path):
    """A program or shared library with all the libraries that it needs, where they are here."""
    add_file(entries, name, path)
    listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(/\S+) \(0x", listed):
        add_file(entries, library.lstrip("/"), library)


# ---- the kernel


def package_of(series):
    """The newest package of a series that apt knows: linux-image-6.1.0-57-amd64 of 6.1."""
    pattern = rf"linux-image-{re.escape(series)}\.[0-9.]*([-+][a-z0-9]+)?-amd64"
    names = run("apt-cache", "search", "--names-only", f"^{pattern}$").splitlines()
    names = [name.split()[0] for name in names]
    names = [name for name in names if not name.endswith(("-rt-amd64", "-cloud-amd64"))]
    if not names:
        raise Unavailable(f"apt knows no kernel {series}: is the suite that has it (bookworm, its security updates, "
                          "bookworm-backports) among apt's sources, and has `apt-get update` run?")
    return max(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])


def payload(image):
    """The ELF file in a bzImage: QEMU boots it directly, without six seconds of unpacking in the guest."""
    sectors = image[0x1F1] or 4
    offset, size = struct.unpack_from("<II", image, 0x248)
    data = image[(sectors + 1) * 512 + offset:][:size]
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data[:-4])
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return subprocess.run(["zstd", "-dc"], input=data[:-4], capture_output=True, check=False).stdout
    raise Unavailable(f"this kernel is packed in a way that is not known here ({data[:6].hex()})")


def fetch(series):
    """Downloads and unpacks a kernel; returns its folder."""
    package = package_of(series)
    folder = cache_folder() / package.removeprefix("linux-image-")
    if (folder / "vmlinux").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    run("apt-get", "-q", "download", package, cwd=folder)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        tree = unpack(folder, scratch)
        ready = pathlib.Path(scratch) / "vmlinux"
        ready.write_bytes(payload(next(tree.glob("boot/vmlinuz-*")).read_bytes()))
        ready.rename(folder / "vmlinux")
    return folder


def unpack(folder, scratch):
    tree = pathlib.Path(scratch) / "tree"
    run("dpkg-deb", "-x", str(next(folder.glob("*.deb"))), str(tree))
    return tree


# ---- the root file system


def add_modules(entries, tree):
    modules = next(iter(tree.glob("lib/modules/*")), None) or next(tree.glob("usr/lib/modules/*"))
    root, release = modules.parents[2], modules.name
    run("depmod", "-b", str(root), release)
    for module in MODULES:
        for line in run("modprobe", "-d", str(root), "-S", release, "--show-depends", module).splitlines():
            if line.startswith("insmod"):
                path = pathlib.Path(line.split()[1])
                add_file(entries, f"lib/modules/{release}/{path.relative_to(modules)}", path)
    for path in modules.glob("modules.*"):
        add_file(entries, f"lib/modules/{release}/{path.name}", path)


def add_programs(entries):
    busybox = program("busybox")
    add_program(entries, "bin/busybox", busybox)
    for applet in set(run(busybox, "--list").split()) - {"busybox"}:
        add_link(entries, f"bin/{applet}", "busybox")
    for name in PROGRAMS:
        add_program(entries, f"bin/{name}", program(name))
    for name, target in LINKS.items():
        add_link(entries, name, target)
    for part in ALSA_PARTS:
        path = ALSA_CONFIGURATION / part
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                add_file(entries, str(file).lstrip("/"), file)


def program(name):
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if not path:
        raise Unavailable(f"{name} is not installed")
    return os.path.realpath(path)


def key():
    """Changes with this file and with the programs that go in."""
    text = [pathlib.Path(__file__).read_text(encoding="utf-8")]
    for name in ("busybox", *PROGRAMS):
        found = os.stat(program(name))
        text.append(f"{name} {found.st_size} {found.st_mtime_ns}")
    return hashlib.sha256("\n".join(text).encode()).hexdigest()[:16]


def make_root(folder):
    """The archive that all guests of this kernel share. Trees that differ have one each, side by side."""
    path = folder / f"root-{key()}.cpio"
    for old in folder.glob("root-*.cpio"):
        if old != path and time.time() - old.stat().st_mtime > KEPT_S:
            old.unlink()
    if path.exists():
        os.utime(path)
        return path
    entries = {}
    for name in FOLDERS:
        add_folder(entries, name)
    add_programs(entries)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        add_modules(entries, unpack(folder, scratch))
        ready = pathlib.Path(scratch) / "root"
        ready.write_bytes(archive(entries))
        ready.rename(path)
    return path


def prepare(series):
    """(vmlinux, root archive) of a kernel series such as 6.1; of those that are there the newest, else fetched.

    Who boots from it reads the archive's content here, under the lock: another tree may remove what is old.
    """
    cache_folder().mkdir(parents=True, exist_ok=True)
    with open(cache_folder() / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        there = [path.parent for path in cache_folder().glob(f"{series}.*/vmlinux")]
        folder = max(there, key=lambda path: path.stat().st_mtime) if there else fetch(series)
        return folder / "vmlinux", make_root(folder).read_bytes()
