"""Two network namespaces, joined by a veth pair, and `tactus gate shape` between the first one and the pair.

Nothing is left behind: the namespaces live as long as two sleeping processes, which end with this one.
"""
import ctypes
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import tempfile
import time

NEAR, FAR, WIRE, FAR_WIRE = "near", "far", "wire0", "wire1"
NEAR_ADDRESS, FAR_ADDRESS = "10.77.0.1", "10.77.0.2"
NEAR_ADDRESS6, FAR_ADDRESS6 = "fd77::1", "fd77::2"
TIMEOUT_S = 90
LIBC = ctypes.CDLL(None, use_errno=True)
SO_TIMESTAMPNS, PR_SET_PDEATHSIG = 35, 1


class Lacking(Exception):
    """The machine lacks something; what, in words."""


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def schedule(*entries, base=0, extension=0):
    """As `tc -j qdisc show` prints it: two classes, priority 6 in the second; entries are (mask, us)."""
    return [{"kind": "taprio", "root": True, "options": {
        "tc": 2, "map": [0] * 6 + [1] + [0] * 9, "clockid": "TAI", "base_time": base,
        "cycle_time": sum(us for _, us in entries) * 1000, "cycle_time_extension": extension,
        "schedule": [{"index": n, "cmd": "S", "gatemask": hex(mask), "interval": us * 1000}
                     for n, (mask, us) in enumerate(entries)]}}]


# Queue 6 had 500 us, and all others the other 500: the schedule of 2021.
HALF = schedule((2, 500), (1, 500))


class Lab:
    def __init__(self, tactus):
        self.tactus = str(tactus)
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.programs, self.holders = [], {}
        self.shaper = None
        if not os.path.exists("/dev/net/tun"):
            raise Lacking("there is no /dev/net/tun here")
        try:
            for name in (NEAR, FAR):
                self.hold(name)
            self.ip(NEAR, "link", "add", WIRE, "type", "veth", "peer", "name", FAR_WIRE, "netns",
                    str(self.holders[FAR].pid))
            self.ip(NEAR, "link", "set", WIRE, "up")
            self.ip(FAR, "link", "set", FAR_WIRE, "up")
            self.address(FAR, FAR_WIRE, FAR_ADDRESS, FAR_ADDRESS6)
        except subprocess.CalledProcessError as failed:
            self.close()
            raise Lacking(f"network namespaces and veth pairs cannot be made here: {failed.stderr}") from failed

    def hold(self, name):
        holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"], preexec_fn=die_with_parent)
        self.holders[name] = holder
        until = time.monotonic() + TIMEOUT_S
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{holder.pid}/ns/net") == own or \
                pathlib.Path(f"/proc/{holder.pid}/comm").read_text().strip() != "sleep":
            if holder.poll() is not None or time.monotonic() > until:
                self.close()
                raise Lacking("no network namespace can be made here")
            time.sleep(0.01)
        self.run(name, "ip", "link", "set", "lo", "up")

    def enter(self, name):
        return ["nsenter", f"--net=/proc/{self.holders[name].pid}/ns/net"]

    def run(self, name, *command, check=True, **options):
        return subprocess.run([*self.enter(name), *map(str, command)], capture_output=True, text=True, check=check,
                              timeout=TIMEOUT_S, **options)

    def ip(self, name, *words):
        return self.run(name, "ip", *words)

    def address(self, name, ifname, address, address6):
        self.ip(name, "address", "add", f"{address}/24", "dev", ifname)
        self.ip(name, "address", "add", f"{address6}/64", "dev", ifname, "nodad")

    def start(self, name, *command, **options):
        program = subprocess.Popen([*self.enter(name), *map(str, command)], stdin=subprocess.DEVNULL, text=True,
                                   preexec_fn=die_with_parent, **options)
        self.programs.append(program)
        return program

    def socket_in(self, name, make):
        """What make() makes, in that namespace."""
        with open(f"/proc/{self.holders[name].pid}/ns/net", encoding="ascii") as there, \
                open("/proc/self/ns/net", encoding="ascii") as here:
            if LIBC.setns(there.fileno(), 0) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            try:
                return make()
            finally:
                LIBC.setns(here.fileno(), 0)

    def receive_on(self, name, ifname, cpu):
        """What arrives there is worked on by that processor (RPS), and not by the one that sent it."""
        self.run(name, "unshare", "--mount", "sh", "-c",
                 f"mount -t sysfs none /sys && echo {1 << cpu:x} >/sys/class/net/{ifname}/queues/rx-0/rps_cpus")

    # ---- the shaper

    def write_schedule(self, gates):
        path = self.folder / "gates.json"
        path.write_text(json.dumps(gates))
        return path

    def shape(self, gates, *options, rate="100M", tap="gate0", before=()):
        """Starts it, by `before`, and gives its device an address; its figures come with stop()."""
        path = self.write_schedule(gates)
        ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        ready.settimeout(TIMEOUT_S)
        name = self.folder / f"notify{len(self.programs)}"
        ready.bind(str(name))
        # Into files: a pipe that nobody reads would hold it up after a minute.
        with open(self.folder / "errors", "w", encoding="utf-8") as errors, \
                open(self.folder / "figures", "w", encoding="utf-8") as figures:
            self.shaper = self.start(NEAR, *before, self.tactus, "gate", "shape", "--schedule", path, "--rate", rate, "--to",
                                     WIRE, "--tap", tap, "--log", self.folder / "departures", "--json", *options,
                                     stdout=figures, stderr=errors,
                                     env={**os.environ, "NOTIFY_SOCKET": str(name)})
        while b"READY=1" not in ready.recv(4096):
            pass
        ready.close()
        self.address(NEAR, tap, NEAR_ADDRESS, NEAR_ADDRESS6)

    def stop(self):
        """(its exit code, its last line of figures)"""
        self.shaper.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self):
        """The same, of one that ends by itself."""
        self.shaper.wait(timeout=TIMEOUT_S)
        lines = [json.loads(line) for line in (self.folder / "figures").read_text(encoding="utf-8").splitlines()]
        if not lines or not lines[-1]["final"]:
            raise AssertionError((self.folder / "errors").read_text())
        return self.shaper.returncode, lines[-1]

    def close(self):
        for program in [*self.programs, *self.holders.values()]:
            if program.poll() is None:
                program.kill()
            program.wait()
            for pipe in (program.stdout, program.stderr):
                if pipe:
                    pipe.close()
        self.scratch.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- traffic

    def iperf_server(self):
        server = self.start(FAR, "iperf3", "-s", "-1", "--forceflush", stdout=subprocess.PIPE)
        for line in server.stdout:
            if "Server listening" in line:
                return server
        raise AssertionError("iperf3 -s does not listen")

    def iperf(self, *options, seconds=2, ipv6=False):
        """iperf3's own report; the receiver's figures are in it."""
        server = self.iperf_server()
        done = self.run(NEAR, "iperf3", "-c", FAR_ADDRESS6 if ipv6 else FAR_ADDRESS, "-t", seconds, "-J",
                        *options, check=False)
        server.wait(timeout=TIMEOUT_S)
        return json.loads(done.stdout)


def frames_of_log(path):
    """(head, frames): the lines that describe the gates, and (launch, class, bytes, handed over, arrival)."""
    head, frames = [], []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if line.startswith("frame"):
                frames.append(tuple(map(int, line.split()[1:])))
            else:
                head.append(line)
    return head, frames
