/*
 * What stands in a RIFF WAVE before its samples, as far as aplay goes by it.
 *
 * Invariant: ends on any bytes at all; a chunk that claims more than the file holds reaches to the
 * file's end.
 */
#ifndef TT_CLI_WAV_HEADER_H
#define TT_CLI_WAV_HEADER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TT_WAV_PCM   1
#define TT_WAV_FLOAT 3

struct tt_wav_header {
    bool is_wav;  /* false: all else is 0; as it is where there is no whole fmt chunk */
    unsigned tag; /* of the extension where there is one */
    unsigned channels;
    unsigned frame_bytes;
    unsigned bits;
    uint32_t rate_hz;
};

/* From the start of a file that can be sought in. */
struct tt_wav_header tt_wav_header_read(FILE *in);

/* How many bytes of its samples the file does not hold although its header claims them; 0 also
 * where the header was written before anybody knew how long it would be. */
uint64_t tt_wav_bytes_missing(FILE *in);

/* Goes to the start of the content of the first chunk of that name, of which the file holds
 * *ret_bytes. False where there is none. */
bool tt_wav_chunk_find(FILE *in, const char *name, uint64_t *ret_bytes);

#endif
