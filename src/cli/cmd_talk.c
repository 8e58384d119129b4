/*
 * `tactus talk`: a talker of a file, a pipe, a tone or a sound card; or of many.
 */
#include "cli/cmd.h"
#include "cli/streams.h"

#define COMMAND "tactus talk"

static const struct argp_option options[] = {
    {"class", TT_OPTION_KEY + 0x80, "A|B", 0,
     "VLAN, priority, transit time and frames per packet of that class of AVB", 0},
    {"raw", TT_OPTION_KEY + 0x81, "FORMAT,CHANNELS,RATE", 0,
     "The source has no header, and is this, such as S24_LE,8,48000", 0},
    {"loop", TT_OPTION_KEY + 0x82, NULL, 0, "Play the file again and again, without a gap", 0},
    {"mtt", TT_OPTION_KEY + 0x83, "TIME", 0, "Transit time until presentation, such as 2ms", 0},
    {"frames-per-pdu", TT_OPTION_KEY + 0x84, "N", 0, "Frames in a packet", 0},
    {"time-uncertainty", TT_OPTION_KEY + 0x85, "TIME", 0, "From media time to launch", 0},
    {"sparse", TT_OPTION_KEY + 0x86, "yes|no", OPTION_ARG_OPTIONAL,
     "A presentation time in every eighth packet only", 0},
    {"vlan-id", TT_OPTION_KEY + 0x87, "ID", 0, "Tag packets for this VLAN", 0},
    {"pcp", TT_OPTION_KEY + 0x88, "N", 0, "Priority in that tag", 0},
    {"priority", TT_OPTION_KEY + 0x89, "N", 0, "Priority that qdiscs go by", 0},
    {"prio", TT_OPTION_KEY + 0x89, NULL, OPTION_ALIAS, NULL, 0},
    {"pace", TT_OPTION_KEY + 0x8A, "auto|kernel|software|xdp", 0, "Who keeps launch times", 0},
    {"clock", TT_OPTION_KEY + 0x8C, "tai|crf:ID,MAC", 0,
     "Run on TAI, or on the clock of that CRF stream", 0},
    {"crf", TT_OPTION_KEY + 0x8D, "ID,MAC[,HZ]", 0, "Tell the clock to others as this CRF stream",
     0},
    {"tu", TT_OPTION_KEY + 0x8F, "auto|never", 0,
     "Mark packets as uncertain while the kernel's clock is not synchronised", 0},
    {"launch-offset", TT_OPTION_KEY + 0x8E, "TIME", 0, "Launched at this phase of the interval", 0},
    {"launch-lead", TT_OPTION_KEY + 0x8B, "TIME", 0, "Handed to the kernel so long before", 0},
    {0},
};

static const struct argp parser = {
    .options = options,
    .parser = tt_stream_options_parse,
    .children = tt_stream_options_common,
    .args_doc = "SOURCE\n--streams FILE",
    .doc =
        "Send audio as an AVTP stream, each packet at its time. SOURCE is a sound file (WAV, FLAC, "
        "Ogg ...), - (bare samples on standard input, with --raw), tone:HZ[,DBFS], or alsa:DEVICE."
        "\v"
        "Examples:\n"
        "  tactus talk -i eth0 --stream-id AA:BB:CC:DD:EE:FF:0001 \\\n"
        "      --dest 91:E0:F0:00:FE:01 --class A music.wav\n"
        "  tactus talk --streams stage.json --json\n\n"
        "Exit: 0 every packet was sent while it could still be presented in time, 1 one was not, "
        "2 wrong usage, 3 no "
        "permission, interface or card, or the source failed."};

int tt_cmd_talk(int argc, char **argv)
{
    struct tt_stream_options talk;
    int code;

    tt_stream_options_init(&talk, TT_ROLE_TALKER, options);
    code = argp_parse(&parser, argc, argv, 0, NULL, &talk) == 0 ? tt_streams_run(COMMAND, &talk)
                                                                : TT_EXIT_USAGE;
    tt_stream_options_done(&talk);
    return code;
}
