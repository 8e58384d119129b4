/*
 * Any bytes as what ptp4l answers on its management socket.
 */
#include "fuzz.h"

#include "os/ptp_management.h"

enum { OTHER, TIME, PROPERTIES, PORT, INTERFACE, REASONS };

static struct fuzz_reason reasons[REASONS] = {
    [OTHER] = {"not what was asked for", 0}, [TIME] = {"the offset", 0},
    [PROPERTIES] = {"the UTC offset", 0},    [PORT] = {"a port", 0},
    [INTERFACE] = {"a port's interface", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = REASONS;
    return reasons;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_ptp_status status = {0};

    reasons[OTHER].reached += !tt_ptp_parse(data, size, &status);
    reasons[TIME].reached += status.time_known;
    reasons[PROPERTIES].reached += status.utc_known;
    reasons[PORT].reached += status.port_known;
    reasons[INTERFACE].reached += status.port_count > 0;
    return 0;
}
