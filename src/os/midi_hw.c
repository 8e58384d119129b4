/*
 * See midi_hw.h.
 */
#include "os/midi_hw.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/ns.h"

#define MINORS_A_CARD 32 /* of a device node: card * 32 + 8 + device */
#define MINOR_RAW     8
#define CARD_ID       32
#define NUMBER_MAX    100000 /* more than any card or device has */

/* "": there is no such card. */
static const char *id_of_card(int card, char id[CARD_ID])
{
    char path[64];
    FILE *file;

    id[0] = '\0';
    snprintf(path, sizeof(path), "/proc/asound/card%d/id", card);
    file = fopen(path, "re");
    if (file && fgets(id, CARD_ID, file)) {
        id[strcspn(id, "\n")] = '\0';
    }
    if (file) {
        fclose(file);
    }
    return id;
}

static int card_of_id(const char *id)
{
    for (int card = 0; card < TT_MIDI_HW_CARDS; card++) {
        char found[CARD_ID];

        if (strcmp(id_of_card(card, found), id) == 0) {
            return card;
        }
    }
    return -ENXIO;
}

/* The number at *text, which goes on behind it; one that no device can have is NUMBER_MAX. -EINVAL:
 * there is none. */
static int parse_number(const char **text)
{
    int number = 0;

    if (!isdigit((unsigned char)**text)) {
        return -EINVAL;
    }
    for (; isdigit((unsigned char)**text); (*text)++) {
        number = number < NUMBER_MAX ? 10 * number + (**text - '0') : NUMBER_MAX;
    }
    return number;
}

static int parse_card(const char **text)
{
    size_t bytes = strcspn(*text, ",");
    char id[TT_MIDI_PORT_NAME];

    if (isdigit((unsigned char)**text)) {
        return parse_number(text);
    }
    snprintf(id, sizeof(id), "%.*s", (int)bytes, *text);
    *text += bytes;
    return bytes > 0 ? card_of_id(id) : -EINVAL;
}

static int parse_name(const char *name, struct tt_midi_hw *ret_hw)
{
    const char *text = name + strlen("hw:");
    struct tt_midi_hw hw = {.card = parse_card(&text), .subdevice = -1};
    int *const fields[] = {&hw.device, &hw.subdevice};

    for (size_t i = 0; i < TT_COUNT_OF(fields) && hw.card >= 0 && *text == ','; i++) {
        text++;
        *fields[i] = parse_number(&text);
        if (*fields[i] < 0) {
            return -EINVAL;
        }
    }
    if (hw.card < 0) {
        return hw.card;
    }
    *ret_hw = hw;
    return *text == '\0' ? 0 : -EINVAL;
}

static int parse_path(const char *path, struct tt_midi_hw *ret_hw)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return -errno;
    }
    *ret_hw = (struct tt_midi_hw){
        .card = (int)minor(status.st_rdev) / MINORS_A_CARD,
        .device = (int)minor(status.st_rdev) % MINORS_A_CARD - MINOR_RAW,
        .subdevice = -1,
    };
    return 0;
}

int tt_midi_hw_parse(const char *name, struct tt_midi_hw *ret_hw)
{
    return strncmp(name, "hw:", 3) == 0 ? parse_name(name, ret_hw) : parse_path(name, ret_hw);
}

void tt_midi_hw_path(const struct tt_midi_hw *hw, char ret_path[TT_MIDI_PORT_NAME])
{
    snprintf(ret_path, TT_MIDI_PORT_NAME, "/dev/snd/midiC%dD%d", hw->card, hw->device);
}

void tt_midi_hw_name(const struct tt_midi_hw *hw, unsigned subdevice,
                     char ret_name[TT_MIDI_PORT_NAME])
{
    char id[CARD_ID];

    id_of_card(hw->card, id);
    if (id[0] == '\0' || isdigit((unsigned char)id[0])) {
        snprintf(id, sizeof(id), "%d", hw->card);
    }
    snprintf(ret_name, TT_MIDI_PORT_NAME, "hw:%s,%d,%u", id, hw->device, subdevice);
}

int tt_midi_hw_missing(const struct tt_midi_hw *hw)
{
    char path[64];

    snprintf(path, sizeof(path), "/dev/snd/controlC%d", hw->card);
    return access(path, F_OK) == 0 ? -ENODEV : -ENXIO;
}
