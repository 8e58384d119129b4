/*
 * Sound cards for `tactus meter`: opened for a buffer, with what went wrong in words.
 */
#ifndef TT_CLI_METER_DEVICE_H
#define TT_CLI_METER_DEVICE_H

#include "cli/cmd.h"
#include "meter/fragment.h"
#include "run/meter_card.h"

/* `round_trip`: to capture from; or NULL. TT_EXIT_GOOD, or an exit code after saying why. */
enum tt_exit tt_meter_device_open(const char *device, const char *round_trip,
                                  const struct tt_fragment_shape *shape,
                                  struct tt_meter_card *ret_card);
/* The buffer that the card has, which is near to what was asked for. */
void tt_meter_device_shape(const struct tt_meter_card *card, struct tt_fragment_shape *shape);
/* Nothing where it is all zero. */
void tt_meter_device_close(struct tt_meter_card *card);
/* What ended a measurement. */
enum tt_exit tt_meter_device_say(int error);

#endif
