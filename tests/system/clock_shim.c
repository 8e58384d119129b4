/*
 * LD_PRELOAD: the kernel's TAI offset as TACTUS_SHIM_TAI_S says. CLOCK_TAI is CLOCK_REALTIME plus
 * that many seconds, and adjtimex and its relatives name the same offset, so a program sees a
 * consistent machine. With TACTUS_SHIM_UNSYNC 0 or 1 they say whether the clock is not
 * synchronised. Everything else is the real one.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/timex.h>
#include <time.h>

static int offset_s(void)
{
    const char *text = getenv("TACTUS_SHIM_TAI_S");

    return text ? atoi(text) : 0;
}

static int synchronise(struct timex *timex, int result)
{
    const char *text = getenv("TACTUS_SHIM_UNSYNC");

    if (!text || result < 0) {
        return result;
    }
    timex->status &= ~STA_UNSYNC;
    timex->status |= atoi(text) ? STA_UNSYNC : 0;
    return timex->status & STA_UNSYNC ? TIME_ERROR : TIME_OK;
}

/* POSIX's dlsym gives a data pointer for a function. */
static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (!function) {
        abort();
    }
    return function;
}

#pragma GCC visibility push(default)

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    static int (*gettime)(clockid_t, struct timespec *);
    int result;

    if (!gettime) {
        *(void **)&gettime = real("clock_gettime");
    }
    if (clock != CLOCK_TAI) {
        return gettime(clock, ret_time);
    }
    result = gettime(CLOCK_REALTIME, ret_time);
    ret_time->tv_sec += offset_s();
    return result;
}

int adjtimex(struct timex *timex)
{
    int (*adjust)(struct timex *);
    int result;

    *(void **)&adjust = real("adjtimex");
    result = adjust(timex);
    timex->tai = offset_s();
    return synchronise(timex, result);
}

int ntp_adjtime(struct timex *timex)
{
    return adjtimex(timex);
}

int clock_adjtime(clockid_t clock, struct timex *timex)
{
    int (*adjust)(clockid_t, struct timex *);
    int result;

    *(void **)&adjust = real("clock_adjtime");
    result = adjust(clock, timex);
    if (clock == CLOCK_REALTIME) {
        timex->tai = offset_s();
        return synchronise(timex, result);
    }
    return result;
}

#pragma GCC visibility pop
