/*
 * `tactus listen`: a listener into a file, a pipe or a sound card; or many.
 */
#include "cli/cmd.h"
#include "cli/streams.h"

#define COMMAND "tactus listen"

static const struct argp_option options[] = {
    {"raw", TT_OPTION_KEY + 0x81, "FORMAT", 0,
     "Bare samples instead of a sound file, such as S24_LE", 0},
    {"overwrite", TT_OPTION_KEY + 0x87, NULL, 0, "Replace a file that is there already", 0},
    {"playout-latency", TT_OPTION_KEY + 0x83, "TIME", 0,
     "Present so much later than the presentation time says", 0},
    {"ptime-tolerance", TT_OPTION_KEY + 0x84, "TIME", 0,
     "How far a presentation time may be off the expected one", 0},
    {"on-absence", TT_OPTION_KEY + 0x85, "silence|xrun", 0,
     "When the talker goes away: record silence, or end", 0},
    {"on-loss", TT_OPTION_KEY + 0x86, "silence|fade", 0, "What stands in for lost frames", 0},
    {0},
};

static const struct argp parser = {
    .options = options,
    .parser = tt_stream_options_parse,
    .children = tt_stream_options_common,
    .args_doc = "SINK\n--streams FILE",
    .doc = "Receive an AVTP stream. SINK is a sound file to write (.wav, .rf64, .flac), - (bare "
           "samples on standard output), or alsa:DEVICE. Format, rate and channels that are not "
           "given are those of the first packet."
           "\v"
           "Examples:\n"
           "  tactus listen -i eth0 --stream-id AA:BB:CC:DD:EE:FF:0001 \\\n"
           "      --dest 91:E0:F0:00:FE:01 --duration 1h take.wav\n"
           "  tactus listen --streams stage.json --json\n\n"
           "Exit: 0 nothing was lost, 1 something was, or no packet came, 2 wrong usage, 3 no "
           "permission, interface or card, or the sink failed."};

int tt_cmd_listen(int argc, char **argv)
{
    struct tt_stream_options listen;
    int code;

    tt_stream_options_init(&listen, TT_ROLE_LISTENER, options);
    code = argp_parse(&parser, argc, argv, 0, NULL, &listen) == 0 ? tt_streams_run(COMMAND, &listen)
                                                                  : TT_EXIT_USAGE;
    tt_stream_options_done(&listen);
    return code;
}
