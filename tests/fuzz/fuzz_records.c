/*
 * Any bytes as a capture file whose usual records are read past libpcap. The first two say how far
 * libpcap has read; where a record is handed over, it is said to have read STEP_BYTES more.
 *
 * A frame lies within what was read, and the frames together are no more than the file.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cli/records.h"

#define SNAP_BYTES     262144
#define STEP_BYTES     24
#define FILE_BYTES_MAX 65536

enum {
    NOTHING_USUAL,
    RECORD,
    HANDED_OVER,
    RESUMED,
    GIVEN_UP,
    LEFT_OUT,
    MIXED_END,
    MIXED_BROKEN,
    REASONS
};

static struct fuzz_reason reasons[REASONS] = {
    [NOTHING_USUAL] = {"nothing usual in it", 0},
    [RECORD] = {"a record", 0},
    [HANDED_OVER] = {"handed over", 0},
    [RESUMED] = {"read on behind that", 0},
    [GIVEN_UP] = {"the rest handed over", 0},
    [LEFT_OUT] = {"left out: not Ethernet", 0},
    [MIXED_END] = {"the end of a mixed file", 0},
    [MIXED_BROKEN] = {"a mixed file that is broken", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = REASONS;
    return reasons;
}

/* All of a frame is looked at: a sanitizer sees where it is not ours. */
static void look_at(const struct tt_record *record)
{
    volatile uint8_t sum = 0;

    for (uint32_t i = 0; i < record->bytes; i++) {
        sum = (uint8_t)(sum + record->frame[i]);
    }
}

static void read_all(struct tt_records *records, off_t file_bytes)
{
    struct tt_record record;
    off_t read_bytes = 0;
    off_t offset = 0;
    int status;

    for (;;) {
        while ((status = tt_records_next(records, &record, &offset)) == 1) {
            look_at(&record);
            reasons[RECORD].reached++;
            read_bytes += (off_t)record.bytes;
            if (read_bytes > file_bytes) {
                abort();
            }
        }
        if (status < 0) {
            reasons[LEFT_OUT].reached += tt_records_left_out(records).packets > 0;
            reasons[tt_records_error(records) ? MIXED_BROKEN : MIXED_END].reached++;
            return;
        }
        reasons[HANDED_OVER].reached++;
        if (offset >= file_bytes) {
            return;
        }
        if (tt_records_resume(records, offset + STEP_BYTES) != 0) {
            reasons[GIVEN_UP].reached++;
            return;
        }
        reasons[RESUMED].reached++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_records *records;
    int fd;

    if (size < 2 || size > FILE_BYTES_MAX) {
        return 0;
    }
    fd = memfd_create("capture", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data + 2, size - 2) != (ssize_t)(size - 2)) {
        abort();
    }
    records = tt_records_new(fd, SNAP_BYTES, tt_get_le16(data));
    if (records) {
        read_all(records, (off_t)size - 2);
    } else {
        reasons[NOTHING_USUAL].reached++;
    }
    tt_records_free(records);
    close(fd);
    return 0;
}
