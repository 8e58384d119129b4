"""A place to try the ALSA plugin: a network namespace of its own with a veth pair, and configurations.

The scripts that use it are called with: the build tree's ALSA configuration, the client, the clock shim.
Where plain namespaces are refused they run in a user namespace; where neither is possible they exit 77 and say
why.
"""

import atexit
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

TALKER, LISTENER = "tt-a", "tt-b"
INSIDE = "TACTUS_LAB"
TIMEOUT_S = 60


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def enter():
    """Runs this script again inside a namespace; returns there, with the veth pair up."""
    if os.environ.get(INSIDE) is None:
        need("unshare", package="util-linux")
        ways = (["unshare", "--net"], ["unshare", "--user", "--map-root-user", "--net"])
        unshare = next((way for way in ways if subprocess.run(way + ["true"], capture_output=True).returncode == 0), None)
        if unshare is None:
            skip("a network namespace cannot be made here (no root, and user namespaces are refused)")
        environment = dict(os.environ, **{INSIDE: "1"})
        os.execvpe("unshare", unshare + [sys.executable] + sys.argv, environment)
    for command in (
        f"ip link add {TALKER} type veth peer name {LISTENER}",
        f"ip link set {TALKER} up",
        f"ip link set {LISTENER} up",
    ):
        if subprocess.run(command.split(), capture_output=True).returncode != 0:
            skip(f"no veth pair: `{command}` was refused")


def need(*programs, package="alsa-utils"):
    for program in programs:
        if shutil.which(program) is None:
            skip(f"{program} is not installed ({package})")


class Lab:
    def __init__(self):
        enter()
        plugin_conf, self.client, shim = sys.argv[1:4]
        self.plugin = pathlib.Path(plugin_conf).parent / "libasound_module_pcm_tactus.so"
        folder = tempfile.TemporaryDirectory(dir="/tmp")
        atexit.register(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # ALSA_CONFIG_PATH and LD_PRELOAD split at spaces and colons, which the build tree's path may have.
        self.plugin_conf = self.link(plugin_conf)
        self.shim = self.link(shim)
        self.configurations = itertools.count()  # for cases in threads, too
        self.lock = threading.Lock()
        self.failures = 0
        self.checks = 0

    def link(self, target):
        link = self.folder / pathlib.Path(target).name
        link.symlink_to(pathlib.Path(target).resolve())
        return str(link)

    def device(self, name, role="play", drop=(), type="tactus", **keys):
        """The text of a PCM definition, as it should be but for what is given. `drop` leaves keys out."""
        values = {
            "ifname": TALKER if role == "play" else LISTENER,
            "addr": "91:E0:F0:00:FE:01",
            "streamid": "02:00:00:00:00:01:0001",
            "mtt": "900ms",
        }
        values.update(keys)
        body = "".join(f'    {k} "{v}"\n' for k, v in values.items() if k not in drop)
        return f"pcm.{name} {{\n    type {type}\n{body}}}\n"

    def preload(self):
        """A plugin built with AddressSanitizer needs its library in a program that was not."""
        needed = subprocess.run(["ldd", str(self.plugin)], capture_output=True, text=True).stdout.split()
        return [word for word in needed if word.startswith("/") and "libasan" in word]

    def environment(self, text, preload=(), **more):
        """With a configuration file of its own: nothing of the user's is read into it."""
        path = self.folder / f"{next(self.configurations)}.conf"
        path.write_text(text)
        return dict(
            os.environ,
            ALSA_CONFIG_PATH=f"/usr/share/alsa/alsa.conf:{self.plugin_conf}:{path}",
            HOME=str(self.folder),
            LC_ALL="C",
            LD_PRELOAD=" ".join(self.preload() + list(preload)),
            # Programs of others leak at exit; ours is looked at by its own tests.
            ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0",
            **more,
        )

    def start(self, command, environment):
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, command, environment):
        """(exit code, standard output, standard error); a program that hangs is killed and fails. How long it
        took is in `seconds`."""
        before = time.monotonic()
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired as expired:
            return -1, "", f"{command} hung: {expired.stderr}"
        self.seconds = time.monotonic() - before
        return done.returncode, done.stdout, done.stderr

    def check(self, condition, what):
        with self.lock:
            self.checks += 1
            self.failures += not condition
        if not condition:
            print(f"FAILED: {what}")
        return condition

    def report(self, name):
        return json.loads((self.folder / name).read_text())

    def end(self):
        print(f"{self.checks - self.failures} of {self.checks} checks passed")
        sys.exit(1 if self.failures or not self.checks else 0)
