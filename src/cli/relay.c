/*
 * See relay.h.
 */
#include "cli/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ns.h"
#include "os/thread.h"

#define STILL_STEPS 200
#define STEP_NS     (10 * TT_NS_PER_MS)
/* A line of JSON of hundreds of streams has room; what anybody may have. */
#define PIPE_BYTES (1 << 20)

struct lane {
    int from; /* of our pipe */
    int to;   /* where it goes; never made non-blocking: others have it too */
    bool started;
    atomic_bool busy;
    atomic_int error; /* of `to`, the first */
    struct tt_thread thread;
};

static struct lane lanes[2]; /* of standard output, or of both; of standard error */

static void pass_on(struct lane *lane, const char *data, size_t n)
{
    size_t at = 0;

    while (at < n && atomic_load(&lane->error) == 0) {
        ssize_t put = write(lane->to, data + at, n - at);

        if (put > 0) {
            at += (size_t)put;
        } else if (errno == EAGAIN) { /* somebody else made it so */
            struct pollfd room = {.fd = lane->to, .events = POLLOUT};

            poll(&room, 1, -1);
        } else if (errno != EINTR) {
            atomic_store(&lane->error, errno);
        }
    }
}

static void run(void *context)
{
    struct lane *lane = context;
    struct pollfd ready = {.fd = lane->from, .events = POLLIN};
    char data[4096];

    ssize_t n;

    do {
        poll(&ready, 1, -1);
        atomic_store(&lane->busy, true);
        n = read(lane->from, data, sizeof(data));
        pass_on(lane, data, n > 0 ? (size_t)n : 0);
        atomic_store(&lane->busy, false);
    } while (n > 0);
}

/* `fd` goes through the lane from now on. */
static void start_lane(struct lane *lane, int fd)
{
    int ends[2];

    lane->to = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (lane->to < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        return;
    }
    lane->from = ends[0];
    lane->started = tt_thread_start_plain(&lane->thread, run, lane) == 0;
    if (lane->started) {
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        dup2(ends[1], fd);
    }
    close(ends[1]);
}

static bool are_one(int a, int b)
{
    struct stat status[2];

    return fstat(a, &status[0]) == 0 && fstat(b, &status[1]) == 0 &&
           status[0].st_dev == status[1].st_dev && status[0].st_ino == status[1].st_ino;
}

void tt_relay_start(void)
{
    bool one = are_one(STDOUT_FILENO, STDERR_FILENO);

    start_lane(&lanes[0], STDOUT_FILENO);
    if (!one) {
        start_lane(&lanes[1], STDERR_FILENO);
    } else if (lanes[0].started) {
        dup2(STDOUT_FILENO, STDERR_FILENO); /* what is said in turn stays in order */
    }
}

void tt_relay_start_errors(void)
{
    start_lane(&lanes[1], STDERR_FILENO);
}

static const struct lane *lane_of(int fd)
{
    return &lanes[fd == STDERR_FILENO && lanes[1].started];
}

static bool is_settled(const struct lane *lane)
{
    int waiting = 0;

    return !lane->started || (ioctl(lane->from, FIONREAD, &waiting) == 0 && waiting == 0 &&
                              !atomic_load(&lane->busy));
}

bool tt_relay_has_room(int fd)
{
    return is_settled(lane_of(fd));
}

/* Not only late: it takes nothing. */
static bool is_still(const struct lane *lane)
{
    struct pollfd room = {.fd = lane->to, .events = POLLOUT};

    return !is_settled(lane) && poll(&room, 1, 0) == 0;
}

int tt_relay_settle(int fd)
{
    static const struct timespec step = {.tv_nsec = STEP_NS};
    const struct lane *lane = lane_of(fd);
    bool settled = is_settled(lane); /* once so, the end of the pipe makes it busy again */

    for (int still = 0; still < STILL_STEPS && !settled; still += is_still(lane)) {
        nanosleep(&step, NULL);
        settled = is_settled(lane);
    }
    return settled ? -atomic_load(&lane->error) : -EAGAIN;
}
