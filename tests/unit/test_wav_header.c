/*
 * cli/wav_header: chunks of any claimed size, in a file that is what it is. Built in 32 bits too,
 * where an offset of a chunk's size does not fit a long.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/wav_header.h"
#include "test.h"

#define FMT "\1\0\2\0\x80\xBB\0\0\0\xEE\2\0\4\0\20\0"

static FILE *file_of(const void *bytes, size_t n)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    rewind(file);
    return file;
}

/* RIFF WAVE, a chunk "junk" that claims `claimed` bytes and has `junk`, then fmt and data. */
static FILE *wav_after_junk(uint32_t claimed, size_t junk)
{
    uint8_t bytes[256] = "RIFF....WAVEjunk";
    size_t at = 16;

    for (int i = 0; i < 4; i++) {
        bytes[at++] = (uint8_t)(claimed >> (8 * i));
    }
    at += junk;
    memcpy(bytes + at, "fmt \20\0\0\0" FMT "data\377\377\377\377abcdefgh", 40);
    return file_of(bytes, at + 40);
}

static void test_chunks_are_stepped_over(void **state)
{
    (void)state;
    for (uint32_t junk = 0; junk < 5; junk++) {
        FILE *file = wav_after_junk(junk, junk + (junk & 1));
        struct tt_wav_header header = tt_wav_header_read(file);
        uint64_t bytes = 0;

        assert_true(header.is_wav);
        assert_int_equal(header.tag, TT_WAV_PCM);
        assert_int_equal(header.channels, 2);
        assert_int_equal(header.rate_hz, 48000);
        assert_int_equal(header.frame_bytes, 4);
        assert_int_equal(header.bits, 16);
        /* Its writer could not fill the size in: it reaches to the file's end. */
        assert_true(tt_wav_chunk_find(file, "data", &bytes));
        assert_int_equal(bytes, 8);
        assert_int_equal(fgetc(file), 'a');
        fclose(file);
    }
}

static void test_sizes_beyond_the_file_end_it(void **state)
{
    /* As a negative step, two of these would lead back to the chunk itself, and for ever. */
    static const uint32_t sizes[] = {0xFFFFFFF8, 0xFFFFFFF7, 0xFFFFFFFF,
                                     0x80000000, 0x7FFFFFFF, 49};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        FILE *file = wav_after_junk(sizes[i], 4);
        struct tt_wav_header header = tt_wav_header_read(file);
        uint64_t bytes = 77;

        assert_true(header.is_wav);
        assert_int_equal(header.channels, 0);
        assert_false(tt_wav_chunk_find(file, "data", &bytes));
        assert_int_equal(bytes, 77);
        fclose(file);
    }
}

static void test_short_files(void **state)
{
    static const char whole[] = "RIFF....WAVEfmt \20\0\0\0" FMT;

    (void)state;
    for (size_t n = 0; n < sizeof(whole) - 1; n++) {
        FILE *file = file_of(whole, n);
        struct tt_wav_header header = tt_wav_header_read(file);

        assert_int_equal(header.is_wav, n >= 12);
        assert_int_equal(header.channels, 0);
        fclose(file);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_are_stepped_over),
        cmocka_unit_test(test_sizes_beyond_the_file_end_it),
        cmocka_unit_test(test_short_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
