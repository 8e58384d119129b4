/*
 * cli/records, and with it cli/capture: what is read past libpcap is what libpcap reads, packet by
 * packet up to the same fault, of captures of every kind and of such with bytes changed at random.
 *
 * Usage: test_records [FILES]: so many changed files of each kind.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/random.h"
#include "cli/capture.h"
#include "cli/records.h"

#define FILE_BYTES    65536
#define FRAMES        60
#define SECONDS       1796025585U
#define CHANGED_FILES 400

struct bytes {
    uint8_t data[FILE_BYTES];
    size_t n;
    bool big_endian;
};

static unsigned changed_files = CHANGED_FILES;

/* What files are refused for is no matter here. */
void tt_cli_say(const char *command, const char *format, ...)
{
    (void)command;
    (void)format;
}

static void put32(struct bytes *bytes, uint32_t value)
{
    if (bytes->big_endian) {
        tt_put_be32(bytes->data + bytes->n, value);
    } else {
        tt_put_le32(bytes->data + bytes->n, value);
    }
    bytes->n += 4;
}

static void put16(struct bytes *bytes, uint16_t value)
{
    if (bytes->big_endian) {
        tt_put_be16(bytes->data + bytes->n, value);
    } else {
        tt_put_le16(bytes->data + bytes->n, value);
    }
    bytes->n += 2;
}

static void put_frame(struct bytes *bytes, unsigned i, uint32_t length)
{
    memset(bytes->data + bytes->n, (int)i, length);
    bytes->n += length;
}

static void make_classic(struct bytes *bytes, uint32_t magic)
{
    put32(bytes, magic);
    put16(bytes, 2);
    put16(bytes, 4);
    put32(bytes, 0);
    put32(bytes, 0);
    put32(bytes, 200);
    put32(bytes, 1);
    for (unsigned i = 0; i < FRAMES; i++) {
        put32(bytes, SECONDS + i);
        put32(bytes, i * 999);
        put32(bytes, 60 + i % 9);
        put32(bytes, 60 + i % 9 + i % 2);
        put_frame(bytes, i, 60 + i % 9);
    }
}

static void put_section(struct bytes *bytes)
{
    put32(bytes, 0x0A0D0D0A);
    put32(bytes, 28);
    put32(bytes, 0x1A2B3C4D);
    put16(bytes, 1);
    put16(bytes, 0);
    put32(bytes, UINT32_MAX);
    put32(bytes, UINT32_MAX);
    put32(bytes, 28);
}

/* `resolution` 0: none is said; it is us then. */
static void put_interface(struct bytes *bytes, uint8_t resolution)
{
    uint32_t length = resolution ? 32 : 20;

    put32(bytes, 1);
    put32(bytes, length);
    put16(bytes, 1);
    put16(bytes, 0);
    put32(bytes, 0);
    if (resolution) {
        put16(bytes, 9);
        put16(bytes, 1);
        bytes->data[bytes->n] = resolution;
        bytes->n += 4;
        put32(bytes, 0);
    }
    put32(bytes, length);
}

static void put_packet(struct bytes *bytes, unsigned i, uint32_t interface, uint64_t stamp)
{
    uint32_t length = 60 + i % 9;
    uint32_t padded = (length + 3) / 4 * 4;

    put32(bytes, 6);
    put32(bytes, 32 + padded);
    put32(bytes, interface);
    put32(bytes, (uint32_t)(stamp >> 32));
    put32(bytes, (uint32_t)stamp);
    put32(bytes, length);
    put32(bytes, length + i % 2);
    put_frame(bytes, i, padded);
    put32(bytes, 32 + padded);
}

static void put_other_block(struct bytes *bytes)
{
    put32(bytes, 5);
    put32(bytes, 24);
    put32(bytes, 0);
    put32(bytes, 1);
    put32(bytes, 2);
    put32(bytes, 24);
}

/* Interfaces of ns, us and 2^-10 s, one of which comes later; a block of another kind; with
 * `sections`, a second section. */
static void make_blocks(struct bytes *bytes, bool sections)
{
    bool second = false;

    put_section(bytes);
    put_interface(bytes, 9);
    put_interface(bytes, 0);
    for (unsigned i = 0; i < FRAMES; i++) {
        uint64_t seconds = SECONDS + (uint64_t)i;
        unsigned interface = i % (i > FRAMES / 3 ? 3 : 2);

        if (i == FRAMES / 3) {
            put_other_block(bytes);
            put_interface(bytes, 0x80 | 10);
        }
        if (sections && i == FRAMES / 2) {
            put_section(bytes);
            put_interface(bytes, 9);
            put_interface(bytes, 6);
            put_interface(bytes, 6);
            second = true;
        }
        put_packet(bytes, i, interface,
                   seconds * (interface == 0             ? 1000000000
                              : interface == 1 || second ? 1000000
                                                         : 1024));
    }
}

static void make_file(struct bytes *bytes, unsigned kind)
{
    static const uint32_t magics[] = {0xA1B2C3D4, 0xA1B23C4D};

    memset(bytes, 0, sizeof(*bytes));
    bytes->big_endian = kind % 2 != 0;
    if (kind / 2 < 2) {
        make_classic(bytes, magics[kind / 2]);
    } else {
        make_blocks(bytes, kind / 2 == 3);
    }
}

#define KINDS 8

/* By libpcap alone: the same capture without its records. */
static void drop_records(struct tt_capture *capture)
{
    struct tt_capture bare = {.pcap = capture->pcap, .coarse = capture->coarse};

    capture->pcap = NULL;
    tt_capture_close(capture);
    *capture = bare;
}

/* Returns how many packets both gave; *ret_fast: it was read past libpcap at first. */
static unsigned compare(const char *path, bool *ret_fast)
{
    struct tt_capture ours = {0};
    struct tt_capture bare = {0};
    unsigned packets = 0;
    int code = tt_capture_open_file("test", path, &ours);

    assert_int_equal(tt_capture_open_file("test", path, &bare), code);
    *ret_fast = ours.records != NULL;
    if (code != TT_EXIT_GOOD) {
        return 0;
    }
    drop_records(&bare);
    for (;; packets++) {
        struct tt_packet a = {0};
        struct tt_packet b = {0};
        int status = tt_capture_next(&ours, &a);

        if (tt_records_is_alone(ours.records)) {
            break; /* libpcap stops there */
        }
        if (tt_capture_next(&bare, &b) != status) {
            fail_msg("packet %u of %s: %d, by libpcap not so", packets, path, status);
        }
        if (status < 0) {
            assert_string_equal(tt_capture_error(&ours), tt_capture_error(&bare));
        }
        if (status != 1) {
            break;
        }
        assert_int_equal(a.bytes, b.bytes);
        assert_int_equal(a.wire_bytes, b.wire_bytes);
        assert_true(a.arrival_utc_ns == b.arrival_utc_ns);
        assert_memory_equal(a.frame, b.frame, a.bytes);
    }
    tt_capture_close(&ours);
    tt_capture_close(&bare);
    return packets;
}

static void write_file(const char *path, const struct bytes *bytes)
{
    FILE *out = fopen(path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(bytes->data, 1, bytes->n, out), bytes->n);
    assert_int_equal(fclose(out), 0);
}

static void test_whole_files(void **state)
{
    struct bytes *bytes = (struct bytes *)malloc(sizeof(*bytes));

    assert_non_null(bytes);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        bool fast;

        make_file(bytes, kind);
        write_file((const char *)*state, bytes);
        assert_int_equal(compare((const char *)*state, &fast), FRAMES);
        assert_true(fast);
    }
    free(bytes);
}

static void test_cut_anywhere(void **state)
{
    struct bytes *bytes = (struct bytes *)malloc(sizeof(*bytes));
    bool fast;

    assert_non_null(bytes);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        make_file(bytes, kind);
        for (bytes->n = 500; bytes->n > 30; bytes->n--) {
            write_file((const char *)*state, bytes);
            compare((const char *)*state, &fast);
        }
    }
    free(bytes);
}

/* Values that lengths, counts and kinds are about. */
static void change(struct bytes *bytes, uint64_t *random)
{
    static const uint8_t values[] = {0, 1, 2, 3, 5, 6, 8, 9, 0x7F, 0x80, 0xFF};
    unsigned times = 1 + (unsigned)(tt_random_next(random) % 4);

    while (times-- > 0) {
        uint64_t r = tt_random_next(random);
        size_t at = (size_t)(r >> 8) % bytes->n;

        bytes->data[at] = r % 2 == 0 ? values[(r >> 1) % sizeof(values)] : (uint8_t)(r >> 40);
    }
    if (tt_random_next(random) % 4 == 0) {
        bytes->n = 30 + tt_random_next(random) % (bytes->n - 30);
    }
}

static void test_changed_files(void **state)
{
    struct bytes *bytes = (struct bytes *)malloc(sizeof(*bytes));
    uint64_t random = 1;
    unsigned fast_files = 0;

    assert_non_null(bytes);
    for (unsigned i = 0; i < KINDS * changed_files; i++) {
        bool fast;

        make_file(bytes, i % KINDS);
        change(bytes, &random);
        write_file((const char *)*state, bytes);
        compare((const char *)*state, &fast);
        fast_files += fast;
    }
    assert_true(fast_files > changed_files);
    free(bytes);
}

static int make_path(void **state)
{
    char *path = strdup("/tmp/test-records-XXXXXX");
    int fd = path ? mkstemp(path) : -1;

    *state = path;
    return fd < 0 ? -1 : close(fd);
}

static int free_path(void **state)
{
    unlink((const char *)*state);
    free(*state);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_files),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_changed_files),
    };

    if (argc > 1) {
        changed_files = (unsigned)strtoul(argv[1], NULL, 10);
    }
    return cmocka_run_group_tests(tests, make_path, free_path);
}
