/*
 * Sets what a time daemon sets: the kernel's TAI offset, or that the clock is synchronised; or
 * steps CLOCK_REALTIME.
 *
 * usage: set_clock tai SECONDS | step MILLISECONDS | synchronised
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

static int set_tai(long seconds)
{
    struct timex t = {.modes = ADJ_TAI, .constant = seconds};

    return adjtimex(&t) < 0;
}

/* The kernel takes it back once the greatest error, which grows by itself, is 16 s. */
static int set_synchronised(void)
{
    struct timex t = {.modes = ADJ_STATUS | ADJ_MAXERROR | ADJ_ESTERROR};

    return adjtimex(&t) < 0;
}

/* By one call, so that nothing passes between reading and setting. */
static int step(long long ms)
{
    struct timex t = {.modes = ADJ_SETOFFSET | ADJ_NANO};
    long long ns = ms * 1000000;

    t.time.tv_sec = (time_t)(ns / 1000000000);
    t.time.tv_usec = (suseconds_t)(ns % 1000000000);
    if (t.time.tv_usec < 0) {
        t.time.tv_sec--;
        t.time.tv_usec += 1000000000;
    }
    return adjtimex(&t) < 0;
}

int main(int argc, char **argv)
{
    int failed = 2;

    if (argc == 3 && strcmp(argv[1], "tai") == 0) {
        failed = set_tai(atol(argv[2]));
    } else if (argc == 3 && strcmp(argv[1], "step") == 0) {
        failed = step(atoll(argv[2]));
    } else if (argc == 2 && strcmp(argv[1], "synchronised") == 0) {
        failed = set_synchronised();
    }
    if (failed == 1) {
        perror("set_clock");
    }
    return failed;
}
